/** The same five requests in nine schemas (../shared/data/wild-schemas): each file gives the same rows. */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { buildIn, newWorkspace, publishedCsv, REPOSITORY, writeInput } from '../../support/pipeline.ts'

const WILD = join(REPOSITORY, '../shared/data/wild-schemas')
const hasData = existsSync(WILD)

const FILES = {
  'openrouter-activity': { file: 'openrouter-activity.csv', read: 4, left_out: 0 },
  'openrouter-generation': { file: 'openrouter-generation.ndjson', read: 4, left_out: 0 },
  'litellm-spend-logs': { file: 'litellm-spendlogs.csv', read: 5, left_out: 0 },
  'litellm-daily-user-spend': { file: 'litellm-dailyuserspend.csv', read: 4, left_out: 0 },
  'helicone-requests': { file: 'helicone-requests.ndjson', read: 5, left_out: 0 },
  'langfuse-observations': { file: 'langfuse-observations.ndjson', read: 6, left_out: 1 },
  'portkey-logs': { file: 'portkey-logs.ndjson', read: 5, left_out: 0 },
  'otel-genai-spans': { file: 'otel-spans.ndjson', read: 5, left_out: 0 },
  'cloudflare-ai-gateway-logs': { file: 'cloudflare-ai-gateway-logs.ndjson', read: 5, left_out: 0 },
}

describe.skipIf(!hasData)(hasData ? 'wild schemas' : `wild schemas (skipped: ${WILD} is absent)`, () => {
  it.each(Object.entries(FILES))('%s gives the expected rows', async (schema, { file, read, left_out }) => {
    const workspace = await newWorkspace()
    const source = { name: 'wild', schema, files: [join(WILD, file)], visibility: 'public' }
    await writeInput(workspace, 'sources.json', { aliases: join(WILD, 'aliases.csv'), sources: [source] })
    const summary = await buildIn(workspace, '2025-06-10T12:00:00Z')
    expect(await publishedCsv(workspace)).toBe(await readFile(join(WILD, 'expected.csv'), 'utf8'))
    expect(summary.records).toMatchObject({ read, left_out, published: read - left_out, rejected: {}, duplicates: 0 })
  })

  it('all together, given twice under two names each, count each request once for each source', async () => {
    const workspace = await newWorkspace()
    const sources = []
    for (const [schema, { file }] of Object.entries(FILES)) {
      const text = await readFile(join(WILD, file), 'utf8')
      await writeInput(workspace, `again/${file}`, text)
      sources.push({ name: schema, schema, files: [join(WILD, file), `again/${file}`], visibility: 'public' })
    }
    await writeInput(workspace, 'sources.json', { aliases: join(WILD, 'aliases.csv'), sources })
    const summary = await buildIn(workspace, '2025-06-10T12:00:00Z')
    const expected = (await readFile(join(WILD, 'expected.csv'), 'utf8')).replaceAll(/\d+$/gm, (tokens) =>
      String(9 * Number(tokens)),
    )
    expect(await publishedCsv(workspace)).toBe(expected)
    expect(summary.records).toMatchObject({ read: 86, published: 42, duplicates: 42, left_out: 2, rejected: {} })
  })
})
