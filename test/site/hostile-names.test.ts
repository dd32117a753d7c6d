/** Names from logs and settings that look like code to a browser, to SQL or to a spreadsheet. */
import { readdir, readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { beforeAll, describe, expect, it } from 'vitest'
import {
  buildIn,
  createWorkspace,
  publishedCsv,
  removeWorkspace,
  type Workspace,
  writeInput,
} from '../support/pipeline.ts'
import { TEST_PUBLISHER } from '../support/publisher.ts'
import { writeRecords } from '../support/records.ts'

const MARKUP = [
  '"><img src=x onerror=alert(1)>',
  '</script><script>alert(1)</script>',
  "' onmouseover='alert(1)",
  '</title><svg onload=alert(1)>',
  '</text></svg><script>alert(1)</script>',
  ']]><x/>--><b>',
  '<!--<script>',
  '&ltb&gt&#39&quot',
  'javascript:alert(1)',
  '{{7*7}}<%= 7 %>',
  '[x](javascript:alert(1))`<b>`',
  '../../../<etc>/passwd',
  '%3Cscript%3E%0d%0a',
]
const SQL = [
  "') DROP TABLE core_sums --",
  "\") FROM read_text('/etc/passwd') --",
  "$1 || getvariable('x')",
  '%_*?[]{}\\',
]
const FORMULA = ['=HYPERLINK("http://x")', '+1+1', '-1+1', '@SUM(A1)', '\t=1']

/** The same number of characters, none of which means anything in markup. */
const harmless = (text: string) => text.replaceAll(/[<>"'&]/g, 'x')

async function buildWith(name: (text: string) => string): Promise<Workspace> {
  const workspace = await createWorkspace()
  const texts = [...MARKUP, ...SQL].map(name)
  const slugs = texts.map((text, index) => `acme/${10 + index}${text}`)
  const models = slugs.map((model_permaslug, index) => ({
    model_permaslug,
    aliases: [`${model_permaslug} alias`, ...(index < FORMULA.length ? [`${FORMULA[index]}`] : [])],
    public: true,
    name: FORMULA[index - 4] ?? `Name ${texts[index]}`,
    author: FORMULA[index - 9] ?? `Author ${10 + index} ${texts[index]}`,
  }))
  await writeInput(workspace, 'models.json', models)
  const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`
  const aliases = slugs.map((slug, index) => {
    return `${quoted(name(`'"; DROP TABLE core_models; --${index}`))},${quoted(slug)}\n`
  })
  await writeInput(workspace, 'aliases.csv', `alias,model_permaslug\n${aliases.join('')}`)
  const column = `n"'); DROP TABLE core_usage; --`
  const file = `raw/it's; DROP TABLE x; --"{a,b}*[1]?.ndjson`
  const days = ['2025-03-01', '2025-03-05']
  const rows = slugs.flatMap((slug, index) =>
    [slug, `${slug} alias`].flatMap((model) => days.map((day) => ({ day, model, [column]: 10 + index }))),
  )
  await writeInput(workspace, file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
  const rejected = FORMULA.map((model) => ({
    timestamp: '2025-03-01T12:00:00Z',
    model_permaslug: model,
    prompt_tokens: '7',
    completion_tokens: '7',
    "x'; --": 'y',
  }))
  await writeRecords(join(workspace.input, 'b.parquet'), rejected, { columns: Object.keys(rejected[0] ?? {}) })
  const columns = { timestamp: 'day', model_permaslug: 'model', prompt_tokens: column, completion_tokens: column }
  await writeInput(workspace, 'sources.json', {
    models: 'models.json',
    aliases: 'aliases.csv',
    max_rejected_share: 1,
    sources: [
      {
        name: `'; DROP TABLE state_files; --`,
        schema: 'canonical',
        files: ['raw/*'],
        columns,
      },
      { name: 'b', schema: 'canonical', files: ['b.parquet'], visibility: 'public' },
    ],
  })
  const [title, description] = ['"><script>alert(1)</script>', "</script>'&"].map(name)
  const { url, contact } = TEST_PUBLISHER
  await writeInput(workspace, '../data/publisher.json', { url, contact, name: name('<b>Us</b>'), title, description })
  const accept = ['uncounted_source']
  await buildIn(workspace, '2025-03-10T12:00:00Z', {}, { accept })
  // A second release has changes on its page.
  await writeInput(workspace, 'raw/z.ndjson', `${JSON.stringify(rows[0])}\n`)
  await buildIn(workspace, '2025-03-10T13:00:00Z', {}, { accept })
  return workspace
}

async function published({ publicDir }: Workspace, ...endings: string[]): Promise<{ path: string; text: string }[]> {
  const names = (await readdir(publicDir, { recursive: true })).filter((name) => endings.includes(extname(name)))
  return Promise.all(names.sort().map(async (path) => ({ path, text: await readFile(join(publicDir, path), 'utf8') })))
}

let hostile: Workspace
let plain: Workspace

beforeAll(async () => {
  hostile = await buildWith((text) => text)
  plain = await buildWith(harmless)
  return async () => {
    for (const workspace of [hostile, plain]) await removeWorkspace(workspace)
  }
})

const SCRIPT = /<script[^>]*>(.*?)<\/script>/gs

describe('names that look like markup', () => {
  it.each(['.html', '.svg', '.atom'])('add no tag, quote or comment to any published %s file', async (ending) => {
    const pages = await published(hostile, ending)
    const others = await published(plain, ending)
    expect(pages.length).toBeGreaterThan(ending === '.html' ? 20 : 0)
    expect(pages.length).toBe(others.length)
    for (const [index, { path, text }] of pages.entries()) {
      const outside = text.replaceAll(SCRIPT, '<script></script>')
      const expected = (others[index]?.text ?? '').replaceAll(SCRIPT, '<script></script>')
      for (const character of ['<', '>', '"', "'"]) {
        expect(outside.split(character).length, `${character} in ${path}`).toBe(expected.split(character).length)
      }
      expect(text, path).not.toMatch(/href="\s*(javascript|data):/i)
    }
  })

  it('stay text in the scripts and the JSON of pages', async () => {
    const pages = await published(hostile, '.html')
    const scripts = pages.flatMap(({ text }) => [
      ...text.matchAll(/<script type="application\/(?:ld\+)?json"[^>]*>(.*?)<\/script>/gs),
    ])
    expect(scripts.length).toBeGreaterThan(0)
    for (const [, script = ''] of scripts) {
      expect(script).not.toMatch(/<[!/a-z]/i)
      JSON.parse(script)
    }
    for (const { text } of await published(hostile, '.json', '.jsonld')) JSON.parse(text)
  })
})

it('models whose names look like SQL are published with all their tokens', async () => {
  const rows = parse(await publishedCsv(hostile), { columns: true }) as {
    model_permaslug: string
    total_tokens: string
  }[]
  const texts = [...MARKUP, ...SQL]
  expect(rows.length).toBe(2 * texts.length)
  for (const [index, text] of texts.entries()) {
    const own = rows.filter((row) => row.model_permaslug === `acme/${10 + index}${text}`)
    const tokens = own.map((row) => Number(row.total_tokens)).toSorted((a, b) => a - b)
    expect(tokens).toEqual([4 * (10 + index), (index === 0 ? 6 : 4) * (10 + index)])
  }
})

it('no cell of a published CSV file is a formula', async () => {
  const files = await published(hostile, '.csv')
  expect(files.length).toBeGreaterThan(5)
  for (const { path, text } of files) {
    const cells = (parse(text) as string[][]).flat()
    for (const cell of cells) expect(cell, path).not.toMatch(/^[=+@\t\r]|^-(?!\d+$)/)
  }
})
