/** docs/sources.md: it has every schema and every column, and its examples build. */
import { readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { SCHEMA_NAMES, SCHEMAS } from '../../../pipeline/raw/schemas/index.ts'
import { neededColumns, type Schema, schemaColumns } from '../../../pipeline/raw/schemas/schema.ts'
import { buildIn, newWorkspace, publishedCsv, REPOSITORY, rowsOf, writeInput } from '../../support/pipeline.ts'
import { type Form, having, PATHS, RECORDS, writeLog } from '../../support/schemas.ts'

const text = await readFile(join(REPOSITORY, 'docs/sources.md'), 'utf8')

/** The part of the page about each schema. */
const sections = new Map(
  text
    .split(/^## /m)
    .slice(1)
    .map((section) => [section.slice(0, section.indexOf('\n')), section]),
)

describe('docs/sources.md', () => {
  it('has a part for every schema, and for nothing else but what they share', () => {
    expect([...sections.keys()]).toEqual(['What holds for every schema', ...SCHEMA_NAMES])
  })

  it.each(SCHEMA_NAMES)('names every column of %s, the optional ones in parentheses', (name) => {
    const schema: Schema = SCHEMAS[name]
    const needed = neededColumns(schema, false).flat()
    for (const column of schemaColumns(schema)) {
      // The keys of a generation stand for those in `data` as well.
      const isEither = name.endsWith('-generation') || needed.includes(column)
      expect(sections.get(name), column).toContain(isEither ? `\`${column}\`` : `(\`${column}\`)`)
    }
  })

  it.each(SCHEMA_NAMES)('has an example of %s that builds', async (name) => {
    const example = /```json\n(.*?)```/s.exec(sections.get(name) ?? '')?.[1] ?? ''
    const [source] = JSON.parse(example).sources
    expect(source.schema).toBe(name)
    const workspace = await newWorkspace()
    const [file] = source.files
    // The example of canonical columns shows how those of another log are renamed.
    const log = name === 'canonical' ? 'litellm-spend-logs' : name
    const record = having(RECORDS[log], PATHS[log].model, 'short')
    await writeLog(join(workspace.input, file), [record], extname(file).slice(1) as Form)
    await writeInput(workspace, 'aliases.csv', 'alias,model_permaslug\nshort,acme/long\n')
    await writeInput(workspace, 'sources.json', example)
    await buildIn(workspace, '2025-06-10T12:00:00Z')
    expect(rowsOf(await publishedCsv(workspace))).toEqual(['2025-06-01 acme/long 10'])
  })
})
