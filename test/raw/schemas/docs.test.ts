/** docs/sources.md describes every schema and column, and its examples build. */
import { mkdir, readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { SCHEMA_NAMES, SCHEMAS } from '../../../pipeline/raw/schemas/index.ts'
import { neededColumns, type Schema, schemaColumns } from '../../../pipeline/raw/schemas/schema.ts'
import {
  acceptSameRequests,
  buildIn,
  newWorkspace,
  publishedCsv,
  REPOSITORY,
  rowsOf,
  writeInput,
} from '../../support/pipeline.ts'
import { compress } from '../../support/records.ts'
import { type Form, having, PATHS, RECORDS, writeLog } from '../../support/schemas.ts'

const text = await readFile(join(REPOSITORY, 'docs/sources.md'), 'utf8')

const OWN_LOGS = 'Logs of any other product'

/** What the examples of own logs read. */
const OWN_RECORDS = {
  'calls/1.ndjson.gz': {
    id: 'c1',
    kind: 'chat',
    sent_at: 1748779200000,
    question: { model: 'acme/long' },
    answer: { usage: { input: 3, cache: { read: 4 }, output: 5 } },
  },
  'report-1.json': {
    data: [{ start_time: 1748736000, results: [{ model: 'acme/long', input_tokens: 7, output_tokens: 5 }] }],
  },
  'calls/long/2025-06-01.ndjson.gz': { prompt_tokens: 7, completion_tokens: 5 },
}

/** The part of the page about each schema. */
const sections = new Map(
  text
    .split(/^## /m)
    .slice(1)
    .map((section) => [section.slice(0, section.indexOf('\n')), section]),
)

describe('docs/sources.md', () => {
  it('has a section for each schema, and one for what they share', () => {
    expect([...sections.keys()]).toEqual(['What holds for every schema', OWN_LOGS, ...SCHEMA_NAMES])
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

  it('has examples of own logs that build', async () => {
    const examples = [...(sections.get(OWN_LOGS) ?? '').matchAll(/```json\n(.*?)```/gs)].map(([, json = '']) => json)
    const files = Object.entries(OWN_RECORDS)
    expect(examples).toHaveLength(files.length)
    for (const [index, [file, record]] of files.entries()) {
      const workspace = await newWorkspace()
      await writeInput(workspace, file, compress(file, `${JSON.stringify(record)}\n`))
      await writeInput(workspace, 'sources.json', examples[index])
      await buildIn(workspace, '2025-06-10T12:00:00Z')
      expect(rowsOf(await publishedCsv(workspace))).toEqual([expect.stringMatching(/^2025-06-01 (acme\/)?long 12$/)])
    }
  })

  it('has an example that builds with the name of every schema', async () => {
    const workspace = await newWorkspace()
    const sources: unknown[] = []
    const exampleIn = (section: string) => /```json\n(.*?)```/s.exec(sections.get(section) ?? '')?.[1] ?? ''
    for (const name of SCHEMA_NAMES) {
      const isCanonical = name === 'canonical'
      const {
        sources: [source],
        ...top
      } = JSON.parse(exampleIn(isCanonical ? name : 'What holds for every schema'))
      expect(top).toEqual({ aliases: 'aliases.csv' })
      const file = source.files[0].replace('raw/gateway/*', `${name}/log`)
      // The example of canonical columns shows how those of another log are renamed.
      const log = isCanonical ? 'litellm-spend-logs' : name
      const more = name === 'vertex-ai-logs' ? { sampling_rate: 1 } : {}
      const record = having(RECORDS[log], PATHS[log].model, `short ${name}`)
      await mkdir(join(workspace.input, name))
      await writeLog(join(workspace.input, file), [record], extname(file).slice(1) as Form)
      sources.push({ ...source, ...more, name, schema: name, files: [file] })
    }
    const aliases = SCHEMA_NAMES.map((name) => `short ${name},acme/${name}\n`)
    await writeInput(workspace, 'aliases.csv', `alias,model_permaslug\n${aliases.join('')}`)
    await writeInput(workspace, 'sources.json', { aliases: 'aliases.csv', sources })
    await acceptSameRequests(workspace, SCHEMA_NAMES)
    await buildIn(workspace, '2025-06-10T12:00:00Z')
    const rows = SCHEMA_NAMES.map((name) => `2025-06-01 acme/${name} 10`)
    expect(rowsOf(await publishedCsv(workspace))).toEqual(rows.toSorted())
  })
})
