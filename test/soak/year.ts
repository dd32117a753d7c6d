import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { DATASET_PATH, type ReleaseEntry } from '../../pipeline/contract/manifest.ts'
import { isDataFile } from '../../pipeline/contract/release-files.ts'
import { TABLE_OF, type Table, tablesIn } from '../../pipeline/contract/tables.ts'
import { addDays } from '../../pipeline/contract/utc-date.ts'
import { deriveRelease } from '../../pipeline/publication/derive-release.ts'
import { verify } from '../../pipeline/publication/verify.ts'
import { logNormal, seededRandom } from '../../pipeline/raw/sample/random.ts'
import { hashIn, readIndex, standingEntries } from '../../pipeline/release/index.ts'
import { readManifest } from '../../pipeline/release/verify.ts'
import {
  buildIn,
  createWorkspace,
  removeWorkspace,
  type Workspace,
  withdrawIn,
  writeInput,
} from '../support/pipeline.ts'
import { serveTokenboard } from '../support/server-process.ts'
import { type Figure, type SoakOptions, type SoakPart, shareOf } from './part.ts'

const RELEASES = 365
/** How many dates the first release has. */
const DATES_BEFORE = 335
const MODELS = 80
const KEPT = 30
const LATE_DAYS = 3
const FIRST_DATE = '2025-01-01'
const MOST_BYTES_OF_DATA = 300e6

export const part: SoakPart = {
  promise:
    'A year of daily releases takes at most 300 MB of data files, and each release that stands can be derived, proved and asked for.',
  async run(options) {
    const workspace = await createWorkspace()
    try {
      await buildYear(workspace, options)
      const index = await readIndex(workspace.publicDir)
      const standing = standingEntries(index)
      const sizes = await sizesOf(workspace.publicDir)
      assert(sizes.data <= MOST_BYTES_OF_DATA, `the data files take ${sizes.data} bytes`)
      await verify(workspace.publicDir, { signal: options.signal, report: () => {} })
      options.report('verified everything')
      const derived = await deriveAll(workspace, standing, options)
      const answers = await askAll(workspace, standing, options)
      return [
        { what: 'releases, withdrawn, dropped', value: countsOf(index.releases) },
        ...sizesToFigures(sizes),
        { what: 'files derived from the history, equal to the checksums', value: `${derived}` },
        { what: 'answers to `as_of`, equal to the release as it was', value: `${answers}` },
      ]
    } finally {
      await removeWorkspace(workspace)
    }
  },
}

/** Builds a release a day. Some records come late, once long after their date, and once a release is withdrawn. */
async function buildYear(workspace: Workspace, options: SoakOptions): Promise<void> {
  const releases = shareOf(RELEASES, options)
  const before = shareOf(DATES_BEFORE, options)
  const middle = Math.floor(releases / 2)
  await writeInput(workspace, 'sources.json', {
    retention: { keep_releases: Math.min(KEPT, Math.max(1, middle)) },
    sources: [{ name: 'gateway', schema: 'canonical', files: ['raw/*.csv'], visibility: 'public' }],
  })
  for (let day = 0; day < before; day += 1) await writeDay(workspace, day, options)
  for (let number = 0; number < releases; number += 1) {
    options.signal.throwIfAborted()
    const day = before + number
    await writeDay(workspace, day, options)
    const late = Array.from({ length: LATE_DAYS }, (_, back) => day - 1 - back).filter((each) => each >= 0)
    if (number === middle) late.push(Math.floor(before / 2))
    await writeLate(workspace, day, late, options)
    const asOf = `${addDays(FIRST_DATE, day + 1)}T00:12:00Z`
    const { outcome } = await buildIn(workspace, asOf, { now: () => new Date(asOf) })
    assert.equal(outcome, 'released')
    if (number === middle + 1) await withdrawPrevious(workspace, day, asOf)
    if (number % 10 === 9) options.report(`built ${number + 1} of ${releases} releases`)
  }
}

async function withdrawPrevious({ publicDir, ...folders }: Workspace, day: number, asOf: string): Promise<void> {
  const release = `${addDays(FIRST_DATE, day).replaceAll('-', '')}T001200Z`
  const now = () => new Date(asOf)
  await withdrawIn({ publicDir, ...folders }, release, asOf.replace('00:12', '12:00'), { now })
}

function writeDay(workspace: Workspace, day: number, { seed }: SoakOptions): Promise<void> {
  const random = seededRandom(seed, day)
  const lines = Array.from({ length: MODELS }, (_, model) => {
    return lineOf(day, model, Math.floor(1e9 * 0.93 ** model * logNormal(random, 0.4)) + 1)
  })
  return writeInput(workspace, `raw/${addDays(FIRST_DATE, day)}.csv`, HEADER + lines.join(''))
}

function writeLate(workspace: Workspace, day: number, dates: readonly number[], { seed }: SoakOptions): Promise<void> {
  const random = seededRandom(seed, 'late', day)
  const late = (model: number) => Math.floor(1e7 * 0.93 ** model * random()) + 1
  const lines = dates.flatMap((date) => Array.from({ length: MODELS }, (_, model) => lineOf(date, model, late(model))))
  return writeInput(workspace, `raw/${addDays(FIRST_DATE, day)}-late.csv`, HEADER + lines.join(''))
}

const HEADER = 'timestamp,model_permaslug,prompt_tokens,completion_tokens\n'

function lineOf(day: number, model: number, tokens: number): string {
  return `${addDays(FIRST_DATE, day)}T12:00:00Z,author-${model % 12}/model-${model},${tokens},0\n`
}

function countsOf(releases: readonly ReleaseEntry[]): string {
  const withdrawn = releases.filter(({ status }) => status === 'withdrawn').length
  return `${releases.length}, ${withdrawn}, ${releases.filter(({ dropped }) => dropped).length}`
}

interface Sizes {
  /** Files of tables, of days and months, and of the history. */
  data: number
  history: number
  /** Pages, charts, documents and everything else. */
  others: number
}

async function sizesOf(publicDir: string): Promise<Sizes> {
  const sizes = { data: 0, history: 0, others: 0 }
  const entries = await readdir(publicDir, { withFileTypes: true, recursive: true })
  for (const { parentPath, name } of entries.filter((entry) => entry.isFile())) {
    const { size } = await stat(join(parentPath, name))
    const isPeriod = /\/(daily|monthly)(\/|$)/.test(parentPath)
    const isHistory = name.startsWith('history.')
    sizes[isDataFile(name) || isPeriod || isHistory ? 'data' : 'others'] += size
    if (isHistory) sizes.history += size
  }
  return sizes
}

function sizesToFigures({ data, history, others }: Sizes): Figure[] {
  const inMegabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`
  return [
    { what: 'data files: tables, days and months, history', value: inMegabytes(data) },
    { what: 'of these, the history as Parquet and CSV', value: inMegabytes(history) },
    { what: 'pages, charts and documents', value: inMegabytes(others) },
  ]
}

async function deriveAll(
  workspace: Workspace,
  standing: readonly ReleaseEntry[],
  options: SoakOptions,
): Promise<number> {
  let files = 0
  for (const [position, { release }] of standing.entries()) {
    const out = join(workspace.root, 'derived', release)
    const { signal } = options
    const summary = await deriveRelease(workspace.publicDir, { release, out }, { signal, report: () => {} })
    assert.deepEqual(
      summary.files.filter(({ comparison }) => comparison !== 'equal'),
      [],
      release,
    )
    files += summary.files.length
    if (position % 50 === 49) options.report(`derived ${position + 1} of ${standing.length} releases`)
  }
  return files
}

/** Asks for every table of every release, all of each release at once. */
async function askAll(
  workspace: Workspace,
  standing: readonly ReleaseEntry[],
  { report }: SoakOptions,
): Promise<number> {
  // The last dates may be to come by the clock of the machine.
  const server = await serveTokenboard(workspace, { AS_OF: standing.at(-1)?.as_of ?? '' })
  const { key } = server
  let answers = 0
  try {
    for (const entry of standing) {
      const manifest = await readManifest(join(workspace.publicDir, DATASET_PATH, entry.path))
      const ask = async ([period, table]: [string, Table]) => {
        if (!tablesIn(manifest).includes(table)) return
        const window = `start_date=${entry.start_date}&end_date=${entry.end_date}`
        const url = `${server.url}/api/v1/datasets/rankings-daily?${window}&period=${period}&as_of=${entry.release}`
        const response = await fetch(url, { headers: { authorization: `Bearer ${key}`, accept: 'text/csv' } })
        assert.equal(response.status, 200, `${url}: ${server.log.slice(-3).join('\n')}`)
        const hash = createHash('sha256')
          .update(await response.bytes())
          .digest('hex')
        assert.equal(`sha256:${hash}`, hashIn(entry, table), url)
        answers += 1
      }
      await Promise.all(Object.entries(TABLE_OF).map(ask))
    }
  } finally {
    await server.kill()
  }
  report(`asked for ${standing.length} releases`)
  return answers
}
