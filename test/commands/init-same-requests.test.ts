/** What `tokenboard init` makes of sources that show the same requests. */
import { readFile, writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { AS_OF, initIn, workspaceWith, YES } from '../support/init.ts'
import { buildIn, type Workspace } from '../support/pipeline.ts'
import { RECORDS, toLines } from '../support/schemas.ts'

const [one, two] = ['litellm-daily-user-spend', 'litellm-spend-logs'] as const
const OPTIONS = { ...YES, public: ['*'] }

const workspaceOf = () => {
  const daily = (date: string) => ({ ...RECORDS[one], date, prompt_tokens: 800 })
  const spend = (date: string) => ({ ...RECORDS[two], startTime: `${date}T10:00:00Z` })
  return workspaceWith({
    'daily/a.ndjson': toLines(['2025-06-01', '2025-06-02', '2025-06-03'].map(daily)),
    'spend/a.ndjson': toLines(['2025-06-02', '2025-06-03', '2025-06-04'].map(spend)),
  })
}

/** The sources by schema; the file then has no rule. */
const sourcesOf = async ({ sources: path }: Workspace): Promise<Record<string, { where?: unknown }>> => {
  const file = JSON.parse(await readFile(path, 'utf8'))
  await writeFile(path, JSON.stringify({ ...file, disclosure: 'none' }))
  return Object.fromEntries(file.sources.map((source: { schema: string }) => [source.schema, source]))
}

it('two sources that show the same requests are asked about, and by default the one with the most tokens counts', async () => {
  const rest = Array.from({ length: 9 }, () => '')
  for (const [answers, left] of [
    [[], one],
    [['neither', two, ...rest], two],
  ] as const) {
    const workspace = await workspaceOf()
    const { shown } = await initIn(workspace, { ...OPTIONS, yes: answers.length === 0 }, { answers: [...answers] })
    expect(Object.keys(await sourcesOf(workspace))).toEqual([left])
    expect(shown).toContain(`show the same requests: only ${left} counts\n`)
  }
  const isBoth = initIn(await workspaceOf(), { ...OPTIONS, yes: false }, { answers: ['both', ...rest] })
  await expect(isBoth).rejects.toThrow(`--accept "overlapping_sources:${one}+${two}" --note TEXT`)
})

it('two sources that show the same requests count one after the other if one of them was published before', async () => {
  const workspace = await workspaceOf()
  await initIn(workspace, OPTIONS)
  await sourcesOf(workspace)
  await buildIn(workspace, AS_OF)
  await initIn(workspace, { ...OPTIONS, force: true }, { asOf: '2026-10-31T12:30:00Z' })
  expect((await sourcesOf(workspace))[two]?.where).toEqual({ startTime: { since: '2025-06-04' } })
  expect((await buildIn(workspace, '2026-10-31T13:00:00Z')).end_date).toBe('2025-06-04')
})
