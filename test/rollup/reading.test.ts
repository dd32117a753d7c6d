/** How a source is read has a name that depends on numbers and settings, and on no word of the source text. */
import { execFile } from 'node:child_process'
import { cp, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import type { ClickHouseChoice } from '../../pipeline/raw/engine.ts'
import { Source } from '../../pipeline/raw/sources.ts'
import { readingOf as readingOfDays } from '../../pipeline/rollup/clickhouse-day.ts'
import { hasOldCounts, isOutdated, readingOf } from '../../pipeline/rollup/reading.ts'
import { temporaryFolder } from '../support/folder.ts'
import { REPOSITORY } from '../support/pipeline.ts'

const run = promisify(execFile)

function source(settings: Record<string, unknown> = {}): Source {
  return Source.parse({ name: 'gateway', schema: 'canonical', files: ['raw/*'], visibility: 'public', ...settings })
}

const RENAMED = { columns: { timestamp: 'ts', model_permaslug: 'model' }, timezone: 'Europe/Paris', model: 'a/b' }
const CLICKHOUSE: ClickHouseChoice = {
  kind: 'clickhouse',
  source: { name: 'clickhouse', visibility: 'public' },
  url: 'http://localhost:8123',
  database: 'default',
  view: 'usage',
  from: '2025-01-01',
  timeout_seconds: 600,
}
const CLUSTER = {
  ...CLICKHOUSE,
  url: 'https://clickhouse.example.com',
  database: 'logs',
  view: 'records',
  cluster: 'main',
}

describe('the reading of a source', () => {
  it('does not depend on its name, files and visibility, nor on the order of its settings', () => {
    const reading = readingOf(source(RENAMED))
    const { columns, ...rest } = RENAMED
    const reordered = { ...rest, columns: Object.fromEntries(Object.entries(columns).reverse()) }
    expect(readingOf(source(reordered))).toBe(reading)
    expect(readingOf(source({ ...RENAMED, name: 'other', files: ['*'], visibility: 'private' }))).toBe(reading)
  })

  it.each([
    { schema: 'portkey-logs' },
    { columns: { timestamp: 'ts' } },
    { timezone: 'Europe/Paris' },
    { model: 'a/b' },
    { base_time: '2025-01-01T00:00:00Z' },
  ])('changes with %o', (settings) => {
    expect(readingOf(source(settings))).not.toBe(readingOf(source()))
  })

  it('does not change with comments in the source text', async () => {
    const folder = await copyWithOtherComments()
    const script = `
      const { readingOf } = await import('./pipeline/rollup/reading.ts')
      const { readingOf: readingOfDays } = await import('./pipeline/rollup/clickhouse-day.ts')
      console.log(JSON.stringify([readingOf(${JSON.stringify(source(RENAMED))}), readingOfDays(${JSON.stringify(CLUSTER)})]))`
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script], { cwd: folder })
    expect(JSON.parse(stdout)).toEqual([readingOf(source(RENAMED)), readingOfDays(CLUSTER)])
  })
})

/** A copy of the program whose every file has one more comment. */
async function copyWithOtherComments(): Promise<string> {
  const folder = await temporaryFolder()
  await cp(join(REPOSITORY, 'pipeline'), join(folder, 'pipeline'), { recursive: true })
  await cp(join(REPOSITORY, 'package.json'), join(folder, 'package.json'))
  await symlink(join(REPOSITORY, 'node_modules'), join(folder, 'node_modules'))
  for (const name of await readdir(join(folder, 'pipeline'), { recursive: true })) {
    const path = join(folder, 'pipeline', name)
    if (name.endsWith('.ts')) await writeFile(path, `// Another word.\n${await readFile(path, 'utf8')}`)
    if (!name.endsWith('.sql')) continue
    const text = await readFile(path, 'utf8')
    await writeFile(path, `-- Another word.\n${text.replaceAll(/^-- name: .*$/gm, '$&\n-- Another word.')}`)
  }
  return folder
}

describe('a reading of another version', () => {
  const reading = readingOf(source()).replace(/^canonical-\d+\./, 'canonical-1.')

  it('is read again, and keeps the counts of what is missing without a question', () => {
    expect(reading).toMatch(/^canonical-1\.1-/)
    expect(isOutdated(reading, 'canonical')).toBe(true)
    expect(hasOldCounts(reading, 'canonical')).toBe(false)
    expect(hasOldCounts(reading.replace('1.1', '1.0'), 'canonical')).toBe(true)
  })
})
