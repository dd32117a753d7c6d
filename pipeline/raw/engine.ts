import { z } from 'zod'
import { DATASET_START, UtcDate } from '../contract/utc-date.ts'
import { whyUrl } from './files/entry.ts'

export const SourceVisibility = z.enum(['public', 'private', 'registry']).default('registry')

/** Where usage comes from: a source, or the engine that replaces sources. */
export interface UsageSource {
  name: string
  visibility: z.infer<typeof SourceVisibility>
  /** Undefined if records may name contributors; `none` if nobody wants to know. */
  contributors?: 'keys' | 'exempt' | 'none' | undefined
  /** Why usage is exempt. */
  note?: string | undefined
  /** Texts that stand for nobody in the column of contributors, as the maintainer wrote them. */
  no_customer?: readonly string[] | undefined
}

/** A path or pattern of raw files. */
export const FileEntry = z
  .string()
  .min(1)
  .refine((entry) => whyUrl(entry) === undefined, { error: ({ input }) => whyUrl(String(input)) })

export const NoCustomer = z.array(z.string().min(1)).min(1).optional()

/** A name that is safe inside quotes in a ClickHouse statement. */
export const ClickHouseName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_-]*$/, {
  error: 'must consist of letters, digits, _ and -, and begin with a letter or _',
})

const ClickHouseUrl = z
  .url({ protocol: /^https?$/, error: 'must be a URL such as https://clickhouse.example.org:8443' })
  .superRefine((text, context) => {
    if (!URL.canParse(text)) return
    const { username, password, search, hash } = new URL(text)
    const say = (message: string) => context.addIssue({ code: 'custom', message })
    if (username !== '' || password !== '') {
      say('has a user or password, which belong in the environment, as CLICKHOUSE_USER and CLICKHOUSE_PASSWORD')
    }
    if (search !== '' || hash !== '')
      say('must end with its host, port or path; ClickHouse settings belong in the profile of its user')
  })

const File = z.string().min(1)

/** `"engine": {"clickhouse": …}` of the sources file: where the view of all usage is. */
export const ClickHouseFields = z.strictObject({
  url: ClickHouseUrl.describe(
    'HTTP or HTTPS interface of one node, without user and password. A path is that of a proxy.',
  ),
  database: ClickHouseName.default('default').describe('The database of the view.'),
  view: ClickHouseName.describe('The view of all usage, on every node.'),
  cluster: ClickHouseName.optional().describe(
    'The cluster whose shards have the data; absent where one server has all.',
  ),
  from: UtcDate.refine((date) => date >= DATASET_START, {
    error: `must not be before ${DATASET_START}, when the dataset begins`,
  })
    .default(DATASET_START)
    .describe('The first date to ask for.'),
  ca: File.optional().meta({
    unset: 'those of the system',
    description: "Certificate file of the authority that signed the server's certificate.",
  }),
  cert: File.optional().describe('Certificate file of the client; needs `key` and `ca`.'),
  key: File.optional().describe('Private key file of the client.'),
  timeout_seconds: z.int().min(1).max(86_400).default(3600).describe('How long one answer may take.'),
})

export const EngineFields = z.strictObject({
  clickhouse: ClickHouseFields.superRefine(checkCertificates)
    .optional()
    .describe('The ClickHouse to ask. Exactly one of this and `rollup_files` is given.'),
  rollup_files: z
    .array(FileEntry)
    .min(1)
    .optional()
    .describe('Files of sums per day and model that another engine wrote.'),
  name: z.string().min(1).optional().meta({
    unset: '`clickhouse` or `rollup_files`',
    description: 'The name of this source in warnings, state and archive.',
  }),
  visibility: SourceVisibility.describe('As in a source.'),
  contributors: z.literal('exempt').optional().meta({
    unset: 'the column `contributor` of the view, if it has one',
    description: '`exempt` for usage of no customer ([publishing](publishing.md#customers)).',
  }),
  note: z.string().min(1).optional().describe('As in a source: needed with `exempt`.'),
  no_customer: NoCustomer.describe('As in a source.'),
})

/** `"engine"` of the sources file: what sums the usage instead of DuckDB and raw files. */
export const EngineChoice = EngineFields.superRefine((engine, context) => {
  for (const { path, message } of faultsOfNote(engine)) context.addIssue({ code: 'custom', path, message })
  const { clickhouse, rollup_files } = engine
  if ((clickhouse === undefined) !== (rollup_files === undefined)) return
  const message = 'must have either "clickhouse", to query usage, or "rollup_files", sums from another engine'
  context.addIssue({ code: 'custom', message })
})

/** The faults of saying why usage is exempt. */
export function faultsOfNote({
  contributors,
  note,
}: Pick<UsageSource, 'contributors' | 'note'>): { path: string[]; message: string }[] {
  if ((contributors === 'exempt') === (note !== undefined)) return []
  const message =
    note === undefined
      ? 'is missing; say why this usage belongs to no customer'
      : 'goes with "contributors": "exempt" only; remove it'
  return [{ path: ['note'], message }]
}

/** ClickHouse as configured, with absolute paths of certificates. */
export interface ClickHouseChoice extends z.infer<typeof ClickHouseFields> {
  kind: 'clickhouse'
  source: UsageSource
}

/** What sums the usage. Only DuckDB reads the files of sources. */
export type Engine = { kind: 'duckdb' } | ClickHouseChoice

function checkCertificates(
  { url, ca, cert, key }: z.infer<typeof ClickHouseFields>,
  context: z.RefinementCtx<z.infer<typeof ClickHouseFields>>,
): void {
  const say = (field: string, message: string) => context.addIssue({ code: 'custom', path: [field], message })
  if (cert !== undefined && key === undefined) say('key', 'is missing: "cert" needs the file of its private key')
  if (key !== undefined && cert === undefined) say('cert', 'is missing: "key" needs the file of its certificate')
  if (cert !== undefined && ca === undefined)
    say('ca', 'is missing: a client certificate needs the authority of the server too')
  if (ca !== undefined && url.startsWith('http:')) say('ca', 'needs an https: url')
}
