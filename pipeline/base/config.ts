import { totalmem } from 'node:os'
import { z } from 'zod'
import { AsOf } from '../contract/as-of.ts'
import { UsageError } from './errors.ts'

const Setting = z.string().min(1).optional()

const Environment = z.object({
  SOURCES: Setting,
  DATA_DIR: z.string().min(1).default('data'),
  PUBLIC_DIR: z.string().min(1).default('public'),
  AS_OF: AsOf.optional(),
  ENGINE: z.enum(['duckdb', 'clickhouse']).optional(),
  CLICKHOUSE_USER: Setting,
  CLICKHOUSE_PASSWORD: Setting,
  CLICKHOUSE_PASSWORD_FILE: Setting,
  MEMORY_LIMIT: z
    .string()
    .regex(/^\d+(\.\d+)?\s?[KMGT]i?B$/, { error: 'must be a size such as 512MiB or 4GB' })
    .optional(),
})

/** The settings of the pipeline (DESIGN.md §5). `sources` is undefined when no sources file was named. */
export interface PipelineConfig {
  sources: string | undefined
  dataDir: string
  publicDir: string
  asOf: Date | undefined
  /** The engine that the sources file has to name; whichever it names where this is undefined. */
  engine: 'duckdb' | 'clickhouse' | undefined
  clickhouse: ClickHouseLogin
  /** A size as DuckDB reads it, such as `512MiB`; what exceeds it is spilled to disk. */
  memoryLimit: string
  /** How many threads DuckDB has: as many as the machine, unless a test says otherwise, for no number depends on it. */
  threads?: number
}

/** As whom a build asks ClickHouse; the password is given itself, or the file that holds it. */
export interface ClickHouseLogin {
  user: string | undefined
  password: string | undefined
  passwordFile: string | undefined
}

/** Reads the settings once; an empty variable counts as absent. Throws `UsageError` that lists every wrong setting. */
export function readPipelineConfig(environment: Record<string, string | undefined> = process.env): PipelineConfig {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''))
  const parsed = Environment.safeParse(given)
  if (!parsed.success) {
    const problems = parsed.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}`)
    throw new UsageError(`wrong settings: ${problems.join('; ')}`)
  }
  const { SOURCES, DATA_DIR, PUBLIC_DIR, AS_OF, ENGINE, MEMORY_LIMIT } = parsed.data
  const { CLICKHOUSE_USER, CLICKHOUSE_PASSWORD, CLICKHOUSE_PASSWORD_FILE } = parsed.data
  if (CLICKHOUSE_PASSWORD !== undefined && CLICKHOUSE_PASSWORD_FILE !== undefined) {
    throw new UsageError('wrong settings: CLICKHOUSE_PASSWORD and CLICKHOUSE_PASSWORD_FILE are both set; keep one')
  }
  return {
    sources: SOURCES,
    dataDir: DATA_DIR,
    publicDir: PUBLIC_DIR,
    asOf: AS_OF,
    engine: ENGINE,
    clickhouse: { user: CLICKHOUSE_USER, password: CLICKHOUSE_PASSWORD, passwordFile: CLICKHOUSE_PASSWORD_FILE },
    memoryLimit: MEMORY_LIMIT ?? defaultMemoryLimit(totalmem(), process.constrainedMemory()),
  }
}

const DEFAULT_MEMORY_SHARE = 0.6
const BYTES_PER_MIB = 2 ** 20

/**
 * 60 % of the memory that this process can have, in whole MiB: the machine's, or what its control group allows when
 * that is less. `constrainedBytes` is 0 where nothing is known of a control group, and huge where it sets no limit.
 */
export function defaultMemoryLimit(machineBytes: number, constrainedBytes: number): string {
  const available = constrainedBytes > 0 ? Math.min(machineBytes, constrainedBytes) : machineBytes
  return `${Math.max(1, Math.floor((available * DEFAULT_MEMORY_SHARE) / BYTES_PER_MIB))}MiB`
}
