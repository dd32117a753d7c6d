import { z } from 'zod'
import { DisclosureStatement } from '../../pipeline/contract/disclosure.ts'
import { Doi } from '../../pipeline/contract/doi.ts'
import { Manifest, Publisher, ReleaseName, Resource, TableFacts } from '../../pipeline/contract/manifest.ts'
import { TABLES } from '../../pipeline/contract/tables.ts'
import { UtcDate } from '../../pipeline/contract/utc-date.ts'
import { Period } from './rankings.ts'

/* Answers that describe the datasets of this server. All of it is from the files of the current release. */

const Url = z
  .string()
  .regex(/^\//)
  .meta({ description: 'A URL from the root of the host.', examples: ['/datasets/rankings-daily/v1/coverage.json'] })

const { release, as_of, data_version, synthetic, provisional_from, content_hash, attribution } = Manifest.shape
const { title, description } = Publisher.shape

/** What a list says of a dataset. */
export const DatasetSummary = z
  .object({
    name: Manifest.shape.dataset,
    version: Manifest.shape.version.meta({ description: 'The version of columns, paths and rules.' }),
    title,
    description,
    synthetic: synthetic.meta({ description: 'Whether this is sample data, which describes no real usage.' }),
    release,
    as_of,
    start_date: UtcDate,
    end_date: UtcDate,
    license: z.object({ name: z.string(), title: z.string(), url: z.url() }),
    links: z.object({
      info: Url.meta({ description: 'All about the dataset: `GET /datasets/rankings-daily/info`.' }),
      rows: Url.meta({ description: 'Its rows: `GET /datasets/rankings-daily`.' }),
    }),
  })
  .meta({ description: 'A dataset in a list.' })
export type DatasetSummary = z.infer<typeof DatasetSummary>

export const ListDatasetsResponse = z.object({ data: z.array(DatasetSummary), total_count: z.int().min(0) })
export type ListDatasetsResponse = z.infer<typeof ListDatasetsResponse>

const RowSchema = z.looseObject({}).meta({ description: 'The JSON Schema of a row.' })

const DataFile = z.object({
  format: z.enum(['parquet', 'csv', 'csv.gz', 'json.gz', 'ndjson.gz']),
  url: Url,
  media_type: z.string(),
  bytes: Resource.shape.bytes,
  sha256: Resource.shape.sha256,
})

/** A table of the current release: of UTC dates, ISO weeks or months. */
export const DatasetTable = z
  .object({
    name: z.enum(TABLES),
    period: Period.meta({ description: 'The value of the parameter `period`.' }),
    ...TableFacts.shape,
    provisional_from: provisional_from.meta({ description: 'Rows of this date and later ones may still change.' }),
    schema: RowSchema,
    rows_url: Url.meta({ description: 'Where the API has the rows, by default those of the last 31 days.' }),
    files: z.array(DataFile).meta({ description: 'Files with all rows, without a key.' }),
  })
  .meta({ description: 'A table of the current release.' })
export type DatasetTable = z.infer<typeof DatasetTable>

/** All about a dataset. */
export const DatasetInfo = z
  .object({
    ...DatasetSummary.shape,
    data_version: data_version.meta({ description: 'MAJOR.MINOR.PATCH of the data.' }),
    content_hash,
    provisional_from: provisional_from.meta({ description: 'Rows of this date and later ones may still change.' }),
    publisher: z.object({ name: z.string(), url: z.url(), contact: z.string() }),
    attribution: attribution.meta({ description: 'The attribution that the license asks for.' }),
    citation: z
      .object({
        text: z.string().meta({ description: 'The citation for people.' }),
        url: z.url().meta({
          description: 'Where a citation leads: the DOI of the release, or its page at the publisher if it has none.',
        }),
        bibtex_url: Url.nullable(),
        cff_url: Url.nullable(),
        doi: Doi.nullable().meta({ description: 'The DOI of the current release. null if it has none.' }),
        concept_doi: Doi.nullable().meta({
          description: 'The DOI of all releases together, which leads to the newest. null if there is none.',
        }),
      })
      .meta({
        description: 'How to cite the current release, and files that do. null for a file that it does not have.',
      }),
    coverage: z.object({
      start_date: UtcDate,
      end_date: UtcDate,
      days: z.int().positive().meta({ description: 'How many dates have rows.' }),
      missing: z.array(UtcDate).meta({
        description: 'Dates in between without rows: no public usage, removed or not published. `url` says which.',
      }),
      url: Url.meta({ description: 'Status, reason and revision of every date.' }),
    }),
    disclosure: DisclosureStatement.nullable().meta({ description: 'The disclosure rule of the release, if any.' }),
    releases: z.object({
      current: ReleaseName,
      count: z.int().positive().meta({ description: 'All releases but the withdrawn ones.' }),
      url: Url.meta({ description: 'The list of all releases.' }),
    }),
    tables: z.array(DatasetTable),
    history: z
      .object({ parquet_url: Url, csv_url: Url })
      .nullable()
      .meta({ description: 'What all releases say, in one table. null if there is none.' }),
  })
  .meta({ description: 'All about a dataset.' })
export type DatasetInfo = z.infer<typeof DatasetInfo>

export const DatasetInfoResponse = z.object({ data: DatasetInfo })
export type DatasetInfoResponse = z.infer<typeof DatasetInfoResponse>
