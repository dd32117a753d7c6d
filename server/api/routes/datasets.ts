import { hash } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { citationText, citedAt, titleOf } from '../../../pipeline/contract/citation.ts'
import type { Doi } from '../../../pipeline/contract/doi.ts'
import type { PublishedDois } from '../../../pipeline/contract/dois.ts'
import { type Manifest, releasePath } from '../../../pipeline/contract/manifest.ts'
import { COVERAGE_PATH, HISTORY_PATHS, INDEX_PATH } from '../../../pipeline/contract/published-paths.ts'
import { dataFiles } from '../../../pipeline/contract/release-files.ts'
import { firstProvisional, GRAINS, type Table, tableFacts, tablesIn } from '../../../pipeline/contract/tables.ts'
import { addDays, type UtcDate } from '../../../pipeline/contract/utc-date.ts'
import type { Dataset } from '../../published/dataset.ts'
import type { OlderReleases } from '../../published/older-releases.ts'
import type { FindRelease } from '../../published/requested-release.ts'
import type {
  DatasetInfo,
  DatasetInfoResponse,
  DatasetSummary,
  DatasetTable,
  ListDatasetsResponse,
} from '../../schemas/datasets.ts'
import { sendTaggedJson } from '../send.ts'
import type { ZodTypeProvider } from '../validation.ts'

/** As the rows of the dataset, its description refuses unknown parameters. */
export const DatasetsQuery = z.strictObject({})

interface Datasets {
  findRelease: FindRelease
  older: Pick<OlderReleases, 'list' | 'hasHistory' | 'dois'>
  prefix: string
}

/** `GET /datasets` and `GET /datasets/rankings-daily/info`: what is published, from its own files (docs/api.md). */
export function datasets(app: FastifyInstance, { findRelease, older, prefix }: Datasets): void {
  const typed = app.withTypeProvider<ZodTypeProvider>()
  const current = () => findRelease(undefined, { table: 'daily' })

  typed.route({
    method: ['GET', 'HEAD'],
    url: '/datasets',
    schema: { querystring: DatasetsQuery },
    async handler(request, reply) {
      const response: ListDatasetsResponse = { data: [datasetSummary(await current(), prefix)], total_count: 1 }
      return send(request, reply, response)
    },
  })

  typed.route({
    method: ['GET', 'HEAD'],
    url: '/datasets/rankings-daily/info',
    schema: { querystring: DatasetsQuery },
    async handler(request, reply) {
      const dataset = await current()
      const listed = (await older.list()).filter(({ status }) => status !== 'withdrawn')
      const [hasHistory, dois] = await Promise.all([older.hasHistory(), older.dois()])
      const surroundings = { releases: Math.max(1, listed.length), hasHistory, dois, prefix }
      const response: DatasetInfoResponse = { data: datasetInfo(dataset, surroundings) }
      return send(request, reply, response)
    },
  })
}

function send(request: FastifyRequest, reply: FastifyReply, response: object): FastifyReply {
  const json = JSON.stringify(response)
  return sendTaggedJson(request, reply, `"${hash('sha256', json).slice(0, 32)}"`, json)
}

/** What the manifest does not say: how many releases there are, whether their history is published, their DOIs, and where. */
interface Surroundings {
  releases: number
  hasHistory: boolean
  dois: PublishedDois | undefined
  prefix: string
}

const ROWS_PATH = 'api/v1/datasets/rankings-daily'

function datasetSummary({ manifest }: Dataset, prefix: string): DatasetSummary {
  const { publisher, license, dataset, version, synthetic, release, as_of, start_date, end_date } = manifest
  const { title, description } = publisher
  return {
    name: dataset,
    version,
    title,
    description,
    synthetic,
    release,
    as_of,
    start_date,
    end_date,
    license: { name: license.name, title: license.title, url: license.path },
    links: { info: `${prefix}/${ROWS_PATH}/info`, rows: `${prefix}/${ROWS_PATH}` },
  }
}

function datasetInfo(dataset: Dataset, { releases, hasHistory, dois, prefix }: Surroundings): DatasetInfo {
  const urlOf = (path: string) => `${prefix}/${path}`
  const { manifest } = dataset
  const { name, url, contact } = manifest.publisher
  const { release, start_date, end_date, days, content_hash, provisional_from, attribution } = manifest
  const doi = dois?.releases.find((each) => each.release === release)?.doi
  /** Of a file of the release, if it has it. */
  const fileUrl = (name: string) =>
    manifest.files.some(({ path }) => path === name) ? urlOf(`${releasePath(release)}/${name}`) : null
  return {
    ...datasetSummary(dataset, prefix),
    data_version: manifest.data_version,
    content_hash,
    provisional_from,
    publisher: { name, url, contact },
    attribution,
    citation: {
      ...citationOf(manifest, doi),
      bibtex_url: fileUrl('citation.bib'),
      cff_url: fileUrl('CITATION.cff'),
      doi: doi ?? null,
      concept_doi: dois?.concept_doi ?? manifest.concept_doi ?? null,
    },
    coverage: { start_date, end_date, days, missing: missingDates(dataset), url: urlOf(COVERAGE_PATH) },
    disclosure: manifest.disclosure ?? null,
    releases: { current: release, count: releases, url: urlOf(INDEX_PATH) },
    tables: tablesIn(manifest).map((table) => describeTable(manifest, table, urlOf)),
    history: hasHistory ? { parquet_url: urlOf(HISTORY_PATHS.parquet), csv_url: urlOf(HISTORY_PATHS.csv) } : null,
  }
}

/** The citation for people, and where it leads. */
function citationOf(manifest: Manifest, doi: Doi | undefined): { text: string; url: string } {
  const { publisher, release, as_of, data_version } = manifest
  const url = citedAt(manifest, doi)
  const cited = {
    author: publisher.name,
    title: titleOf(manifest),
    year: as_of.slice(0, 4),
    release,
    data_version,
    url,
  }
  return { text: citationText(cited), url }
}

function describeTable(manifest: Manifest, table: Table, urlOf: (path: string) => string): DatasetTable {
  const facts = tableFacts(manifest, table)
  if (facts === undefined) throw new Error(`${manifest.release} has no ${table} table`)
  const { start_date, end_date, rows, content_hash } = facts
  const period = GRAINS[table]
  const schema = table === 'daily' ? manifest.schema : manifest.tables?.schema
  return {
    name: table,
    period,
    start_date,
    end_date,
    rows,
    content_hash,
    provisional_from: firstProvisional(table, manifest),
    schema: schema as DatasetTable['schema'],
    rows_url: urlOf(table === 'daily' ? ROWS_PATH : `${ROWS_PATH}?period=${period}`),
    files: dataFiles(table).flatMap(({ path, format }) => {
      const file = manifest.files.find((each) => each.path === path)
      if (file === undefined) return []
      const { media_type, bytes, sha256 } = file
      return [{ format, url: urlOf(`${releasePath(manifest.release)}/${path}`), media_type, bytes, sha256 }]
    }),
  }
}

/** Dates without rows between the first and the last date of a release. */
function missingDates(dataset: Dataset): UtcDate[] {
  const { start_date, end_date } = dataset.manifest
  const published = new Set(dataset.dates('daily'))
  const missing: UtcDate[] = []
  for (let date = start_date; date <= end_date; date = addDays(date, 1)) if (!published.has(date)) missing.push(date)
  return missing
}
