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
}

export interface PublishOptions {
  asOf?: string
  startDate?: string
  endDate?: string
  attribution?: string
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

  const ndjson = gzipSync(rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
  const csv = csvOf(rows)
  const files = [
    { name: 'rankings-daily.ndjson.gz', bytes: ndjson, type: 'application/gzip' },
    { name: 'rankings-daily.csv', bytes: Buffer.from(csv), type: 'text/csv' },
  ]
  for (const { name, bytes } of files) {
    const written = name.endsWith('.ndjson.gz') ? (options.spoilRows?.(bytes) ?? bytes) : bytes
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
    schema: {},
    files: files.map(({ name, bytes, type }) => ({
      path: name,
      media_type: type,
      bytes: bytes.length,
      sha256: hash('sha256', bytes),
      rows: rows.length,
    })),
    generator: { name: 'tokenboard', version: '0.0.0', duckdb: '0.0.0' },
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

function csvOf(rows: Row[]): string {
  const quoted = (text: string) => (/[",\r\n]/.test(text) ? `"${text.split('"').join('""')}"` : text)
  const lines = rows.map((row) => `${row.date},${quoted(row.model_permaslug)},${row.total_tokens}`)
  return ['date,model_permaslug,total_tokens', ...lines, ''].join('\n')
}
