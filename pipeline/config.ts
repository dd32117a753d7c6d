import { z } from 'zod'
import { AsOf } from './contract/as-of.ts'
import { UsageError } from './errors.ts'

const Setting = z.string().min(1).optional()

const Environment = z.object({
  SOURCES: Setting,
  DATA_DIR: z.string().min(1).default('data'),
  PUBLIC_DIR: z.string().min(1).default('public'),
  AS_OF: AsOf.optional(),
  ENGINE: z.enum(['duckdb']).default('duckdb'),
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
  memoryLimit: string | undefined
}

/** Reads the settings once; an empty variable counts as absent. Throws `UsageError` that lists every wrong setting. */
export function readPipelineConfig(environment: Record<string, string | undefined> = process.env): PipelineConfig {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''))
  const parsed = Environment.safeParse(given)
  if (!parsed.success) {
    const problems = parsed.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}`)
    throw new UsageError(`wrong settings: ${problems.join('; ')}`)
  }
  const { SOURCES, DATA_DIR, PUBLIC_DIR, AS_OF, MEMORY_LIMIT } = parsed.data
  return {
    sources: SOURCES,
    dataDir: DATA_DIR,
    publicDir: PUBLIC_DIR,
    asOf: AS_OF,
    memoryLimit: MEMORY_LIMIT,
  }
}
