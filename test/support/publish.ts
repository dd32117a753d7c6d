import { hash } from 'node:crypto'
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { LatestPointer, Manifest } from '../../pipeline/contract/manifest.ts'

/** A row as the published files have it. Written here anew: the server's checks are to be tested, not repeated. */
export interface Row {
  date: string
  model_permaslug: string
  total_tokens: string
  days?: number
}

export interface PublishOptions {
  asOf?: string
  startDate?: string
  endDate?: string
  attribution?: string
  /** Also the tables of weeks and months, as `periodsOf` makes them. */
  periods?: boolean
  /** The text of `models.csv`. */
  models?: string
  /** Changes the manifest after its checksums are right. */
  spoilManifest?: (manifest: Manifest) => void
  /** Changes the pointer before it is switched. */
  spoilPointer?: (pointer: LatestPointer) => void
  /** Bytes of `rankings-daily.ndjson.gz` that the manifest does not know of. */
  spoilRows?: (bytes: Buffer) => Buffer
}

export const FOLDER = 'datasets/rankings-daily/v1'
export const DEFAULT_AS_OF = '2025-02-10T00:12:00Z'

/** Writes a release and switches `latest.json` to it, as the pipeline would. Returns its name. */
export async function publish(publicDir: string, rows: Row[], options: PublishOptions = {}): Promise<string> {
  const asOf = options.asOf ?? DEFAULT_AS_OF
  const release = asOf.replaceAll('-', '').replaceAll(':', '')
  const folder = join(publicDir, FOLDER, 'releases', release)
  await mkdir(folder, { recursive: true })

  const csv = csvOf(rows)
  const periods =
    options.periods === true ? { weekly: periodsOf('weekly', rows), monthly: periodsOf('monthly', rows) } : {}
  const tables: [string, Row[]][] = Object.entries({ daily: rows, ...periods })
  const files = [
    ...tables.flatMap(([table, ofTable]) => filesOf(table, ofTable)),
    ...(options.models === undefined
      ? []
      : [{ name: 'models.csv', bytes: Buffer.from(options.models), type: 'text/csv', rows: undefined }]),
  ]
  for (const { name, bytes } of files) {
    const written = name === 'rankings-daily.ndjson.gz' ? (options.spoilRows?.(bytes) ?? bytes) : bytes
    await writeFile(join(folder, name), written)
  }

  const about = {
    release,
    as_of: asOf,
    start_date: options.startDate ?? rows[0]?.date ?? '2025-01-01',
    end_date: options.endDate ?? rows.at(-1)?.date ?? '2025-01-01',
    rows: rows.length,
    content_hash: `sha256:${hash('sha256', csv)}`,
  }
  const manifest: Manifest = {
    dataset: 'rankings-daily',
    version: 'v1',
    ...about,
    synthetic: false,
    days: new Set(rows.map(({ date }) => date)).size,
    provisional_from: '2025-02-07',
    publisher: {
      name: 'Example',
      url: 'https://example.org',
      contact: 'data@example.org',
      title: 'Tokens per model',
      description: 'Tokens per model and day.',
    },
    attribution: options.attribution ?? `Source: Example (https://example.org), as of ${asOf}.`,
    license: { name: 'CC-BY-4.0', title: 'CC BY 4.0', path: 'https://creativecommons.org/licenses/by/4.0/' },
    ...(periods.weekly && {
      tables: { weekly: factsOf(periods.weekly), monthly: factsOf(periods.monthly), schema: {} },
    }),
    schema: {},
    files: files.map(({ name, bytes, type, rows: length }) => ({
      path: name,
      media_type: type,
      bytes: bytes.length,
      sha256: hash('sha256', bytes),
      ...(length !== undefined && { rows: length }),
    })),
    data_version: '1.0.0',
    changes: { previous: null, facts: [], reason: 'unspecified', note: null },
    generator: { name: 'tokenboard', version: '1.0.0', duckdb: '0.0.0' },
  }
  options.spoilManifest?.(manifest)
  await writeFile(join(folder, 'manifest.json'), JSON.stringify(manifest))
  await point(publicDir, { ...about, path: `releases/${release}/` }, options.spoilPointer)
  return release
}

/** `days` dates from 2025-01-01 with `models` models each and an `other` row. */
export function sampleRows({ days = 40, models = 50, scale = 1 } = {}): Row[] {
  const rows: Row[] = []
  for (let day = 0; day < days; day++) {
    const date = new Date(Date.UTC(2025, 0, 1 + day)).toISOString().slice(0, 10)
    for (let model = 0; model < models; model++) {
      const total_tokens = String((models - model) * 1000 * scale + day)
      rows.push({ date, model_permaslug: `vendor/model-${model}`, total_tokens })
    }
    rows.push({ date, model_permaslug: 'other', total_tokens: String(9_999_999 * scale) })
  }
  return rows
}

async function point(publicDir: string, pointer: LatestPointer, spoil?: PublishOptions['spoilPointer']) {
  spoil?.(pointer)
  const path = join(publicDir, FOLDER, 'latest.json')
  await writeFile(`${path}.new`, JSON.stringify(pointer))
  await rename(`${path}.new`, path)
}

function filesOf(table: string, rows: Row[]) {
  const ndjson = gzipSync(rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
  return [
    { name: `rankings-${table}.ndjson.gz`, bytes: ndjson, type: 'application/gzip', rows: rows.length },
    { name: `rankings-${table}.csv`, bytes: Buffer.from(csvOf(rows)), type: 'text/csv', rows: rows.length },
  ]
}

/** Without `other`, the sums of a period are of all models: the daily rows here name each of them every day. */
export function periodsOf(table: 'weekly' | 'monthly', rows: readonly Row[]): Row[] {
  const byPeriod = Map.groupBy(rows, ({ date }) => firstOf(table, date))
  return [...byPeriod].flatMap(([date, ofPeriod]) => {
    const days = new Set(ofPeriod.map((row) => row.date)).size
    const sums = [...Map.groupBy(ofPeriod, ({ model_permaslug }) => model_permaslug)].map(([slug, each]) => ({
      slug,
      sum: each.reduce((sum, { total_tokens }) => sum + BigInt(total_tokens), 0n),
    }))
    const isLast = (slug: string) => Number(slug === 'other')
    sums.sort((a, b) => isLast(a.slug) - isLast(b.slug) || Number(b.sum - a.sum) || (a.slug < b.slug ? -1 : 1))
    return sums.map(({ slug, sum }) => ({ date, model_permaslug: slug, total_tokens: String(sum), days }))
  })
}

/** The first of the month, or the Monday of the week. */
export function firstOf(table: 'weekly' | 'monthly', date: string): string {
  if (table === 'monthly') return `${date.slice(0, 8)}01`
  const day = new Date(`${date}T00:00:00Z`)
  day.setUTCDate(day.getUTCDate() - ((day.getUTCDay() + 6) % 7))
  return day.toISOString().slice(0, 10)
}

function factsOf(rows: Row[]) {
  const [first = '', last = ''] = [rows[0]?.date, rows.at(-1)?.date]
  return { start_date: first, end_date: last, rows: rows.length, content_hash: `sha256:${hash('sha256', csvOf(rows))}` }
}

export function csvOf(rows: readonly Row[]): string {
  const quoted = (text: string) => (/[",\r\n]/.test(text) ? `"${text.split('"').join('""')}"` : text)
  const days = (row: Row) => (row.days === undefined ? '' : `,${row.days}`)
  const lines = rows.map((row) => `${row.date},${quoted(row.model_permaslug)},${row.total_tokens}${days(row)}`)
  const head = 'date,model_permaslug,total_tokens'
  return [rows[0]?.days === undefined ? head : `${head},days`, ...lines, ''].join('\n')
}
