import { homedir, totalmem } from 'node:os'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { z } from 'zod'
import { AsOf } from '../contract/as-of.ts'
import { CliError } from './errors.ts'
import { parseNamed } from './json.ts'

const Setting = z.string().min(1).optional()

/** The settings of the build. `docs/reference.md` is made from the descriptions; `unset` says what holds without a default. */
export const PipelineSettings = z.object({
  SOURCES: Setting.meta({
    unset: '`$DATA_DIR/sources.json`',
    description:
      'The sources file. Where this is unset and the default does not exist, a synthetic sample is built. If `DATA_DIR` is another folder than `data` and `data/sources.json` exists, the build stops and names both.',
  }),
  DATA_DIR: z.string().min(1).default('data').describe('Everything private: sources, registry, state, archive, store.'),
  PUBLIC_DIR: z.string().min(1).default('public').describe('Everything published.'),
  AS_OF: AsOf.optional().meta({
    unset: 'now',
    description:
      'ISO 8601 instant in UTC, cut to whole seconds. It decides which day is the last completed one, and names the release.',
  }),
  MEMORY_LIMIT: z
    .string()
    .regex(/^\d+(\.\d+)?\s?[KMGT]i?B$/, { error: 'must be a size such as 512MiB or 4GB' })
    .optional()
    .meta({
      unset: '60 % of the memory of the machine or container',
      description: 'Memory for DuckDB, such as `512MiB`. What exceeds it is spilled to disk, below `DATA_DIR/state`.',
    }),
  ENGINE: z.enum(['duckdb', 'clickhouse']).optional().meta({
    unset: 'what the sources file names',
    description:
      'A safeguard: the build stops where the sources file names another engine ([operations](operations.md#usage-that-is-elsewhere)).',
  }),
  CLICKHOUSE_USER: Setting.meta({ unset: '`default`', description: 'The user of ClickHouse.' }),
  CLICKHOUSE_PASSWORD: Setting.describe('The password of that user.'),
  CLICKHOUSE_PASSWORD_FILE: Setting.describe('The file that holds that password. Set only one of the two.'),
  SIGNING_KEY_FILE: Setting.describe(
    'The key that [signs](publishing.md#signatures) what is published, as `tokenboard keygen` writes it. It must not lie in `PUBLIC_DIR`.',
  ),
  SIGNATURE_DAYS: z.coerce
    .number()
    .int({ error: 'must be a whole number of days' })
    .min(2, { error: 'must be 2 or more' })
    .max(3650, { error: 'must be 3650 or less' })
    .default(30)
    .describe('How many days a signature lasts. When half of them are over, the next build renews it.'),
})

function withoutEmpty(environment: Record<string, string | undefined>): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''))
}

/** The settings of the pipeline. */
export interface PipelineConfig {
  sources: string | undefined
  dataDir: string
  publicDir: string
  asOf: Date | undefined
  /** The engine that the sources file must name; undefined allows both. */
  engine: 'duckdb' | 'clickhouse' | undefined
  clickhouse: ClickHouseLogin
  /** A size as DuckDB reads it, such as `512MiB`. DuckDB spills the rest to disk. */
  memoryLimit: string
  signingKeyFile?: string | undefined
  /** Days that a signature lasts. */
  signatureDays?: number
  /** DuckDB's threads, by default one per core. Results do not depend on it. */
  threads?: number
}

export interface ClickHouseLogin {
  user: string | undefined
  password: string | undefined
  passwordFile: string | undefined
}

/** Reads the settings; an empty variable counts as unset. Throws `CliError` that lists every wrong setting. */
export function readPipelineConfig(environment: Record<string, string | undefined> = process.env): PipelineConfig {
  const given = withoutEmpty(environment)
  const { SOURCES, DATA_DIR, PUBLIC_DIR, AS_OF, ENGINE, MEMORY_LIMIT, SIGNING_KEY_FILE, SIGNATURE_DAYS, ...login } =
    parseNamed(PipelineSettings, given)
  const { CLICKHOUSE_USER, CLICKHOUSE_PASSWORD, CLICKHOUSE_PASSWORD_FILE } = login
  if (CLICKHOUSE_PASSWORD !== undefined && CLICKHOUSE_PASSWORD_FILE !== undefined) {
    throw new CliError('CLICKHOUSE_PASSWORD and CLICKHOUSE_PASSWORD_FILE are both set; keep one')
  }
  return {
    sources: SOURCES,
    dataDir: DATA_DIR,
    publicDir: PUBLIC_DIR,
    asOf: AS_OF,
    engine: ENGINE,
    clickhouse: { user: CLICKHOUSE_USER, password: CLICKHOUSE_PASSWORD, passwordFile: CLICKHOUSE_PASSWORD_FILE },
    ...(SIGNING_KEY_FILE !== undefined && { signingKeyFile: SIGNING_KEY_FILE }),
    signatureDays: SIGNATURE_DAYS,
    memoryLimit: MEMORY_LIMIT ?? defaultMemoryLimit(totalmem(), process.constrainedMemory()),
  }
}

/** The file in which `verify` keeps what it saw of signed sites: `tokenboard/pins.json` in the user's folder of settings. */
export function pinsFile({ XDG_CONFIG_HOME }: Record<string, string | undefined> = process.env): string {
  return join(XDG_CONFIG_HOME || join(homedir(), '.config'), 'tokenboard/pins.json')
}

/** A text with paths inside of the folders of the settings as these were given: relative where they are. */
export function withGivenPaths(
  text: string,
  { SOURCES, DATA_DIR, PUBLIC_DIR }: Record<string, string | undefined> = process.env,
): string {
  const given = [PUBLIC_DIR || 'public', DATA_DIR || 'data', dirname(SOURCES || 'data/sources.json')]
  return given
    .filter((folder) => !isAbsolute(folder))
    .reduce((said, folder) => {
      const path = new RegExp(`${RegExp.escape(resolve(folder))}(?:(/)|(?![^\\s,;:"]))`, 'g')
      return said.replace(path, (_, inside) => (inside === undefined ? folder : `${folder.replace(/\/$/, '')}/`))
    }, text)
}

const DEFAULT_MEMORY_SHARE = 0.6
const BYTES_PER_MIB = 2 ** 20

/** 60 % of the memory of the machine or of its control group, in MiB. `constrainedBytes` is 0 if unknown. */
export function defaultMemoryLimit(machineBytes: number, constrainedBytes: number): string {
  const available = constrainedBytes > 0 ? Math.min(machineBytes, constrainedBytes) : machineBytes
  return `${Math.max(1, Math.floor((available * DEFAULT_MEMORY_SHARE) / BYTES_PER_MIB))}MiB`
}
