/** Rejected records of many builds: what is listed is what a first build of the same files would list. */
import { utimes } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readRejects } from '../../../pipeline/rollup/list-rejects.ts'
import { copyOf, Gateway, inputAlone, use, useOn } from '../../support/gateway.ts'
import { createWorkspace, removeWorkspace } from '../../support/pipeline.ts'
import type { FileRecord } from '../../support/records.ts'

const GOOD = use('acme/one', 1)
const BAD_TIME: FileRecord = { ...GOOD, timestamp: 'soon' }
const BAD_COUNT: FileRecord = { ...GOOD, prompt_tokens: '-1' }
const BAD_MODEL: FileRecord = { ...GOOD, model_permaslug: '=one' }

/** Every rejected record of the last build, in an order of our own. */
async function listed({ workspace }: Gateway): Promise<string[]> {
  const lines: string[] = []
  for await (const record of readRejects(workspace.dataDir, {})) lines.push(JSON.stringify(record))
  return lines.sort()
}

/** What a first build of the same input lists. */
async function listedAtOnce(gateway: Gateway): Promise<string[]> {
  const fresh = new Gateway(await inputAlone(gateway.workspace))
  try {
    await fresh.build()
    return await listed(fresh)
  } finally {
    await removeWorkspace(fresh.workspace)
  }
}

function place(line: string): string {
  const { file, record, reason } = JSON.parse(line)
  return `${file} ${record} ${reason}`
}

let original: Gateway
/** What the command lists of it. */
let before: string[]

beforeAll(async () => {
  original = new Gateway(await createWorkspace())
  await original.configure({ max_rejected_share: 1 })
  await original.deliver('a.csv', [GOOD, BAD_TIME])
  await original.deliver('b.ndjson.gz', [BAD_COUNT, GOOD])
  await original.deliver('c.parquet', [GOOD, GOOD, BAD_MODEL])
  // A copy of a file has its time to the millisecond, and is to be no file that was touched.
  for (const [day, name] of ['a.csv', 'b.ndjson.gz', 'c.parquet'].entries()) {
    await utimes(original.path(name), 0, new Date(`2025-03-0${3 + day}T23:59:59Z`))
  }
  await original.build()
  const { code, stdout, stderr } = await original.run(['rejects', '--json', '--limit', '1000'])
  expect(code, stderr).toBe(0)
  before = stdout.trimEnd().split('\n').sort()
  expect(before.map(place)).toEqual([
    'raw/a.csv 2 invalid_timestamp',
    'raw/b.ndjson.gz 1 invalid_token_count',
    'raw/c.parquet 3 invalid_model',
  ])
})

afterAll(() => removeWorkspace(original.workspace))

it('stay listed by a build that reads their files no more', async () => {
  const gateway = await copyOf(original)
  const { summary } = await gateway.build()
  expect(summary.records.rejected).toEqual({ invalid_timestamp: 1, invalid_token_count: 1, invalid_model: 1 })
  expect(await listed(gateway)).toEqual(before)
})

it('follow files that are new, changed, renamed and mended', async () => {
  const gateway = await copyOf(original)
  await gateway.deliver('a.csv', [BAD_COUNT, GOOD, useOn('2025-03-03', 'acme/one', 1), BAD_TIME])
  await gateway.rename('b.ndjson.gz', 'renamed.ndjson.gz')
  await gateway.deliver('c.parquet', [GOOD, GOOD, GOOD])
  await gateway.deliver('d.csv.zst', [BAD_MODEL])
  await gateway.build()
  expect((await listed(gateway)).map(place)).toEqual([
    'raw/a.csv 1 invalid_token_count',
    'raw/a.csv 4 invalid_timestamp',
    'raw/d.csv.zst 1 invalid_model',
    'raw/renamed.ndjson.gz 1 invalid_token_count',
  ])
  expect(await listed(gateway)).toEqual(await listedAtOnce(gateway))
})

it('go with a file that is removed', async () => {
  const gateway = await copyOf(original)
  await gateway.configure({ max_rejected_share: 1, on_missing: 'remove' })
  await gateway.takeAway('a.csv')
  const { summary } = await gateway.build()
  expect(summary.records.rejected).toEqual({ invalid_token_count: 1, invalid_model: 1 })
  expect(await listed(gateway)).toEqual(await listedAtOnce(gateway))
})

it('are listed again by a build whose state was thrown away', async () => {
  const gateway = await copyOf(original)
  await gateway.forget()
  await gateway.build()
  expect(await listed(gateway)).toEqual(before)
})
