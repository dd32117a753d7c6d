/** docs/publishing.md in the order of the page: its files and commands take raw logs to a release, late data and withdrawals. */
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { writePublisher } from '../support/publisher.ts'
import { cloneProject, environment, run } from './clone.ts'

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/publishing.md'), 'utf8')
const BLOCKS = [...PAGE.matchAll(/^```(json|sh)\n(.*?)^```/gms)].map(([, language = '', text = '']) => ({
  language,
  text,
}))

/** The release that the page withdraws is the one of this instant. */
const FIRST_BUILD = '2026-11-20T00:12:00Z'
const NEXT_BUILD = '2026-11-21T00:12:00Z'
const LAST_BUILD = '2026-11-21T13:00:00Z'

let folder: string
let copy: string
let asOf = FIRST_BUILD

beforeAll(async () => {
  folder = cloneProject()
  copy = await mkdtemp(join(tmpdir(), 'tokenboard-copy-'))
  await writeLog('2026-11-18')
})
afterAll(async () => {
  for (const made of [dirname(folder), copy]) await rm(made, { recursive: true, force: true })
})

it.each(BLOCKS)('$text', async ({ language, text }) => {
  if (language === 'json') return await writeShown(text)
  const script = text.replaceAll('/srv/tokenboard', join(copy, 'site'))
  const { code, stderr } = await run('bash', ['-euxo', 'pipefail', '-c', script], {
    cwd: folder,
    env: environment({ AS_OF: asOf }),
  })
  expect(code, stderr).toBe(0)
  if (text.includes('--dates')) asOf = LAST_BUILD
  else if (text.includes('make verify') && asOf === FIRST_BUILD) {
    // A day passes.
    await writeLog('2026-11-19')
    asOf = NEXT_BUILD
  }
})

it('the commands of the page leave the later release with the models that it made public', async () => {
  const dataset = join(folder, 'public/datasets/rankings-daily/v1')
  const { releases } = JSON.parse(await readFile(join(dataset, 'releases/index.json'), 'utf8'))
  expect(releases.slice(0, 2)).toMatchObject([
    { release: '20261120T001200Z', data_version: '1.0.0', status: 'withdrawn' },
    { release: '20261121T001200Z', data_version: '1.1.0' },
  ])
  const csv = await readFile(join(dataset, 'latest/rankings-daily.csv'), 'utf8')
  expect(csv).not.toContain('2026-11-18')
  expect([...new Set(csv.split('\n').map((line) => line.split(',')[1]))].filter(Boolean).sort()).toEqual([
    'acme/large-20260101',
    'acme/small',
    'lab/one',
    'model_permaslug',
  ])
})

async function writeLog(date: string): Promise<void> {
  const models = ['large', 'acme/small', 'lab/one', 'customer/secret']
  const lines = models.map((model, index) => `${date}T12:00:00Z,${model},${1000 * (index + 1)},10`)
  const text = ['created_at,model,prompt_tokens,completion_tokens', ...lines, ''].join('\n')
  await mkdir(join(folder, 'data/raw/gateway'), { recursive: true })
  await writeFile(join(folder, `data/raw/gateway/${date}.csv.gz`), gzipSync(text))
}

/** Writes a file that the page shows to where the page says. The publisher's placeholders stand for a real one. */
async function writeShown(text: string): Promise<void> {
  if (text.includes('"contact"')) return await writePublisher(join(folder, 'data'))
  const name = text.includes('"sources"') ? 'sources.json' : 'models.json'
  expect(PAGE).toContain(`Write \`data/${name}\``)
  await writeFile(join(folder, 'data', name), text)
}
