import { z } from 'zod'
import { DATASET_START, UtcDate } from '../contract/utc-date.ts'

/** What a source, or what an engine reads in place of sources, says about the models in it (DESIGN.md §5). */
export const SourceVisibility = z.enum(['public', 'private', 'registry']).default('registry')

/** Where usage comes from: a source, or what an engine reads in place of sources. */
export interface Origin {
  name: string
  visibility: z.infer<typeof SourceVisibility>
}

/** A name as ClickHouse may have it in a statement: nothing in it ends the quotes that it is put in. */
export const ClickHouseName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_-]*$/, {
  error: 'must consist of letters, digits, _ and -, and begin with a letter or _',
})

const ClickHouseUrl = z
  .url({ protocol: /^https?$/, error: 'must be a URL such as https://clickhouse.example.org:8443' })
  .superRefine((text, context) => {
    const { username, password, search, hash } = new URL(text)
    const say = (message: string) => context.addIssue({ code: 'custom', message })
    if (username !== '' || password !== '') {
      say('must hold no user and no password; give them as CLICKHOUSE_USER and CLICKHOUSE_PASSWORD in the environment')
    }
    if (search !== '' || hash !== '')
      say('must end with its host, port or path; settings of ClickHouse belong into the profile of its user')
  })

const File = z.string().min(1)

/** `"engine": {"clickhouse": …}` of the sources file: where the view of all usage lies. */
export const ClickHouseFields = z.strictObject({
  url: ClickHouseUrl,
  database: ClickHouseName.default('default'),
  view: ClickHouseName,
  /** The cluster on whose nodes the view lies, each with the records of its shard; without one a single server has all. */
  cluster: ClickHouseName.optional(),
  /** The first date that is asked for. */
  from: UtcDate.refine((date) => date >= DATASET_START, {
    error: `must not be before ${DATASET_START}, when the dataset begins`,
  }).default(DATASET_START),
  /** Files of certificates: of the authority that vouches for the server, and of the client and its key. */
  ca: File.optional(),
  cert: File.optional(),
  key: File.optional(),
  /** How long one answer may take. */
  timeout_seconds: z.int().min(1).max(86_400).default(3600),
})

export const EngineFields = z.strictObject({
  clickhouse: ClickHouseFields.superRefine(assertCertificates).optional(),
  rollup_files: z.array(z.string().min(1)).min(1).optional(),
  name: z.string().min(1).optional(),
  visibility: SourceVisibility,
})

/** `"engine"` of the sources file: what sums the usage in place of DuckDB and raw files. */
export const EngineChoice = EngineFields.superRefine(({ clickhouse, rollup_files }, context) => {
  if ((clickhouse === undefined) !== (rollup_files === undefined)) return
  const message =
    'must have either "clickhouse", where the usage is asked for, or "rollup_files", sums that another engine wrote'
  context.addIssue({ code: 'custom', message })
})

/** The ClickHouse that a sources file names; paths of certificates are absolute. */
export interface ClickHouseChoice extends z.infer<typeof ClickHouseFields> {
  kind: 'clickhouse'
  origin: Origin
}

/** Which engine sums the usage. DuckDB reads the files of all sources; ClickHouse has none. */
export type Engine = { kind: 'duckdb' } | ClickHouseChoice

function assertCertificates(
  { url, ca, cert, key }: z.infer<typeof ClickHouseFields>,
  context: z.RefinementCtx<z.infer<typeof ClickHouseFields>>,
): void {
  const say = (field: string, message: string) => context.addIssue({ code: 'custom', path: [field], message })
  if (cert !== undefined && key === undefined) say('key', 'is missing: "cert" needs the file of its private key')
  if (key !== undefined && cert === undefined) say('cert', 'is missing: "key" needs the file of its certificate')
  if (cert !== undefined && ca === undefined)
    say('ca', 'is missing: a client certificate needs the authority of the server too')
  if (ca !== undefined && url.startsWith('http:'))
    say('ca', 'means nothing where the url begins with http:; make it https:')
}
