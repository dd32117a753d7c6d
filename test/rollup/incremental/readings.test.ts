/** A newer version reads a schema differently: files that are there are read again, and what is missing keeps its old counts. */
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { writeChecksums } from '../../../pipeline/base/checksums.ts'
import { realFiles } from '../../../pipeline/base/files.ts'
import { Manifest } from '../../../pipeline/contract/manifest.ts'
import { column, count } from '../../../pipeline/raw/schemas/expression.ts'
import { SCHEMAS } from '../../../pipeline/raw/schemas/index.ts'
import { copyOf, type Gateway, newGateway, useOn } from '../../support/gateway.ts'
import { coveredDay, readCoverage, readRestatements } from '../../support/history.ts'
import { archiveIn, buildIn, releaseFolder, writeInput } from '../../support/pipeline.ts'

const { canonical } = SCHEMAS
const former = { reading: canonical.reading, completion_tokens: canonical.record.completion_tokens }

/** A newer version: it counts the prompt of a canonical record twice. */
function upgrade(): void {
  canonical.reading = former.reading + 1
  canonical.record.completion_tokens = count(column('prompt_tokens'))
}

function downgrade(): void {
  canonical.reading = former.reading
  canonical.record.completion_tokens = former.completion_tokens
}

beforeEach(downgrade)
afterEach(downgrade)

const MONDAY = useOn('2025-03-03', 'acme/one', 10, { request_id: 'm' })
const TUESDAY = useOn('2025-03-04', 'acme/one', 20, { request_id: 't' })
const SUNDAY = useOn('2025-03-09', 'acme/one', 40, { request_id: 's' })

/** A gateway that has built a file of each date. */
async function builtGateway(top: Record<string, unknown> = {}): Promise<Gateway> {
  const gateway = await newGateway(top)
  await gateway.deliver('monday.csv', [MONDAY])
  await gateway.deliver('tuesday.csv', [TUESDAY])
  expect(await gateway.rows()).toEqual(['2025-03-03 acme/one 10', '2025-03-04 acme/one 20'])
  return gateway
}

async function accept(gateway: Gateway): Promise<void> {
  await buildIn(gateway.workspace, gateway.later(), {}, { accept: ['old_counts', 'new_reading'] })
}

/** Archives what is before Tuesday, in this process, which has the newer version. */
async function archiveMonday(gateway: Gateway): Promise<void> {
  const { outcome } = await archiveIn(gateway.workspace, '2025-03-04', gateway.later())
  expect(outcome).toBe('archived')
}

/** The dates that the coverage marks. */
async function markedDates(gateway: Gateway): Promise<string[]> {
  const { days } = await readCoverage(gateway.workspace)
  return days.filter(({ old_counts }) => old_counts).map(({ date }) => date)
}

async function inState(gateway: Gateway, ...statements: string[]): Promise<void> {
  const instance = await DuckDBInstance.create(join(gateway.workspace.dataDir, 'state/build.duckdb'))
  const connection = await instance.connect()
  try {
    for (const statement of statements) await connection.run(statement)
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}

describe('files that are there', () => {
  it('are read again once, and restate final dates with the reason reading once that is accepted', async () => {
    const gateway = await builtGateway()
    const helicone = SCHEMAS['helicone-requests']
    helicone.reading += 1
    try {
      // Another schema is read differently.
      const { summary, notices } = await gateway.build()
      expect({ outcome: summary.outcome, notices }).toEqual({ outcome: 'unchanged', notices: [] })
    } finally {
      helicone.reading -= 1
    }
    upgrade()
    const message = await gateway.failure()
    expect(message).toContain('  2025-03-03: 1 changed row, 10 tokens before, 20 now\n')
    expect(message).toContain('  2025-03-04: 1 changed row, 20 tokens before, 40 now\n')
    expect(message).toContain('tokenboard build --accept new_reading')
    expect(await gateway.failure()).toBe(message)
    await accept(gateway)
    expect(await gateway.rows()).toEqual(['2025-03-03 acme/one 20', '2025-03-04 acme/one 40'])
    expect(await readRestatements(gateway.workspace)).toMatchObject([{ reason: 'reading' }])
    expect((await gateway.build()).summary.outcome).toBe('unchanged')
    await gateway.deliver('monday.csv', [MONDAY, { ...MONDAY, request_id: 'm2' }])
    expect((await gateway.build()).notices).toEqual([])
    expect((await readRestatements(gateway.workspace)).map(({ reason }) => reason)).toEqual(['reading', 'unspecified'])
  })

  it('are restated with the reason reading also if the build that read them made no release', async () => {
    const gateway = await builtGateway({ blocking: ['missing_date'] })
    upgrade()
    await gateway.deliver('sunday.csv', [SUNDAY])
    expect(await gateway.failure()).toContain('missing_date')
    const accept = ['missing_date', 'new_reading'] as const
    const { workspace } = await copyOf(gateway)
    await buildIn(workspace, gateway.later(), {}, { accept })
    expect(await readRestatements(workspace)).toMatchObject([{ reason: 'reading' }])
    // A publisher may know better.
    await buildIn(gateway.workspace, gateway.later(), {}, { accept, reason: 'correction' })
    expect(await readRestatements(gateway.workspace)).toMatchObject([{ reason: 'correction' }])
  })
})

describe('a missing file that is kept', () => {
  async function gatewayThatLostMonday(): Promise<Gateway> {
    const gateway = await builtGateway({ on_missing: 'keep' })
    await gateway.takeAway('monday.csv')
    upgrade()
    return gateway
  }

  it('stops the build until its old counts are accepted or it is back; meanwhile its date is marked', async () => {
    const gateway = await gatewayThatLostMonday()
    const message = await gateway.failure()
    expect(message).toContain('source "gateway", raw files missing: 2025-03-03\n')
    expect(message).toContain('restore the missing raw files, or keep the old numbers')
    expect(message).toContain('tokenboard build --accept old_counts')
    expect(await gateway.failure()).toBe(message)
    await gateway.forget()
    expect(await gateway.failure()).toContain('tokenboard build --accept old_counts')

    await accept(gateway)
    const rows = ['2025-03-03 acme/one 10', '2025-03-04 acme/one 40']
    expect(await gateway.build()).toMatchObject({ summary: { outcome: 'unchanged' }, rows })
    expect(await markedDates(gateway)).toEqual(['2025-03-03'])
    await gateway.deliver('sunday.csv', [SUNDAY])
    expect(await gateway.rows()).toEqual([...rows, '2025-03-09 acme/one 80'])
    expect(await markedDates(gateway)).toEqual(['2025-03-03'])
    await gateway.forget()
    expect((await gateway.build()).summary.outcome).toBe('unchanged')
    expect((await gateway.run(['verify'])).stderr).toContain('verified')
    const manifest = Manifest.parse(
      JSON.parse(await readFile(join(await releaseFolder(gateway.workspace), 'manifest.json'), 'utf8')),
    )
    expect(manifest.old_counts).toEqual([{ start_date: '2025-03-03', end_date: '2025-03-03' }])
    expect(manifest.changes?.facts).not.toContain('old_counts')

    const archived = await copyOf(gateway)
    await archiveMonday(archived)
    await archived.deliver('tuesday.csv', [{ ...TUESDAY, prompt_tokens: '21' }])
    await archived.build()
    expect(await markedDates(archived)).toEqual(['2025-03-03'])

    await gateway.deliver('monday.csv', [MONDAY])
    await accept(gateway)
    expect((await gateway.rows())[0]).toBe('2025-03-03 acme/one 20')
    expect(await markedDates(gateway)).toEqual([])
    await archiveMonday(gateway)
    expect((await gateway.build()).summary.outcome).toBe('unchanged')
    expect(await markedDates(gateway)).toEqual([])
  })

  it('does not stop the build if its source is private', async () => {
    const gateway = await builtGateway({ on_missing: 'keep' })
    await writeInput(gateway.workspace, 'shown.csv', await readFile(gateway.path('tuesday.csv'), 'utf8'))
    const shown = { name: 'shown', schema: 'canonical', files: ['shown.csv'], visibility: 'public' }
    await gateway.configure({
      on_missing: 'keep',
      sources: [{ ...shown, name: 'gateway', files: ['raw/*'], visibility: 'private' }, shown],
    })
    await gateway.takeAway('monday.csv')
    await gateway.build()
    upgrade()
    await buildIn(gateway.workspace, gateway.later(), {}, { accept: ['new_reading'] })
    expect(await markedDates(gateway)).toEqual([])
  })
})

describe('a request of which one copy is missing and the other is read again', () => {
  const SHARED = useOn('2025-03-03', 'acme/shared', 10, { request_id: 'shared' })
  const OTHER = useOn('2025-03-03', 'acme/other', 5, { request_id: 'other' })

  async function gatewayWithCopies(top: Record<string, unknown> = {}): Promise<Gateway> {
    const gateway = await newGateway(top)
    await gateway.deliver('a.csv', [SHARED, OTHER])
    await gateway.deliver('b.csv', [SHARED, MONDAY])
    expect(await gateway.rows()).toEqual([
      '2025-03-03 acme/one 10',
      '2025-03-03 acme/shared 10',
      '2025-03-03 acme/other 5',
    ])
    return gateway
  }

  it.each(['keep', 'fail'])('counts once if the missing file is kept, read under %s', async (on_missing) => {
    const gateway = await gatewayWithCopies({ on_missing })
    await gateway.takeAway('a.csv')
    await gateway.configure({ on_missing: 'keep' })
    await gateway.build()
    upgrade()
    await accept(gateway)
    const rows = ['2025-03-03 acme/one 20', '2025-03-03 acme/shared 20', '2025-03-03 acme/other 5']
    expect(await gateway.rows()).toEqual(rows)
    await gateway.forget()
    expect(await gateway.rows()).toEqual(rows)
    expect(await markedDates(gateway)).toEqual(['2025-03-03'])
  })

  it('stops the build if the previous version did not keep the missing file, and says what to do', async () => {
    const gateway = await gatewayWithCopies()
    await gateway.takeAway('a.csv')
    await gateway.configure({ on_missing: 'keep' })
    upgrade()
    const message = await gateway.failure()
    expect(message).toContain('raw/a.csv is missing, and on_missing was not keep when it was read')
    expect(message).toContain(
      'this version of Tokenboard reads that file differently. Restore the missing file for one',
    )
    expect(message).toContain('build once with the previous version and with on_missing set to keep, then upgrade')

    await gateway.deliver('a.csv', [SHARED, OTHER])
    await accept(gateway)
    await gateway.takeAway('a.csv')
    expect(await gateway.rows()).toEqual([
      '2025-03-03 acme/one 20',
      '2025-03-03 acme/shared 20',
      '2025-03-03 acme/other 10',
    ])
  })
})

describe('an archived date', () => {
  it('stops the build until its old counts are accepted, and is marked then', async () => {
    const gateway = await builtGateway()
    await archiveMonday(gateway)
    upgrade()
    const message = await gateway.failure()
    expect(message).toContain('source "gateway", archived: 2025-03-03\nkeep the old numbers')
    await accept(gateway)
    expect(await gateway.rows()).toEqual(['2025-03-03 acme/one 10', '2025-03-04 acme/one 40'])
    expect(await coveredDay(gateway.workspace, '2025-03-03')).toMatchObject({ status: 'final', old_counts: true })
    expect(await coveredDay(gateway.workspace, '2025-03-04')).not.toHaveProperty('old_counts')
  })
})

it('archived dates and kept files of another version stop the build', async () => {
  const gateway = await builtGateway({ on_missing: 'keep' })
  await archiveMonday(gateway)
  await gateway.takeAway('tuesday.csv')
  await gateway.build()
  for (const [name, version] of [
    ['files', 4],
    ['dates', 5],
  ] as const) {
    const folder = join(gateway.workspace.dataDir, 'archive', name)
    const [part = ''] = await readdir(folder)
    const file = join(folder, part, name === 'files' ? 'file.json' : 'archive.json')
    await writeFile(file, (await readFile(file, 'utf8')).replace(/"version": \d+/, `"version": ${version}`))
    await rm(join(folder, part, 'SHA256SUMS'))
    await writeChecksums(join(folder, part), realFiles)
    expect(await gateway.failure()).toMatch(/\.json:\d+: version: another version of Tokenboard wrote this/)
  }
})

it('a state of another version stops the build, and stays as it is', async () => {
  const gateway = await builtGateway()
  await inState(gateway, 'UPDATE state_version SET version = 99')
  const message = await gateway.failure()
  expect(message).toMatch(/^another version of Tokenboard wrote the state .* version 99, .* Build with that version/)
  await inState(gateway, 'UPDATE state_version SET version = 1')
  expect((await gateway.build()).summary.outcome).toBe('unchanged')
})
