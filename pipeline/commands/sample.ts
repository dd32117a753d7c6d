import { join } from 'node:path'
import { Command } from '@commander-js/extra-typings'
import { z } from 'zod'
import { readPipelineConfig } from '../base/config.ts'
import type { BuildEvent } from '../base/effects.ts'
import { parseNamed } from '../base/json.ts'
import { mostRecentCompletedDay, UtcDate } from '../contract/utc-date.ts'
import { SAMPLE_DEFAULTS } from '../raw/sample/options.ts'
import { withInterrupt } from './running.ts'

/** Ten years: more is a typo. */
const MOST_DAYS = 3660

const Whole = z
  .string()
  .regex(/^\d{1,9}$/, { error: 'must be a whole number of at most 9 digits' })
  .transform(Number)
const Count = Whole.refine((count) => count > 0, { error: 'must be at least 1' })

const Flags = z.object({
  '--folder': z.string().min(1, { error: 'must name a folder' }).optional(),
  '--last-day': UtcDate.optional(),
  '--days': Count.refine((days) => days <= MOST_DAYS, { error: `must be at most ${MOST_DAYS}` }),
  '--seed': Whole,
  '--requests-per-day': Count,
})

export const sample = new Command('sample')
  .description('Write synthetic raw usage logs to build from. Day files that exist are kept; later days are added.')
  .option('--folder <path>', 'where to write (default: $DATA_DIR/raw/sample)')
  .option('--last-day <YYYY-MM-DD>', 'last UTC day (default: the most recent completed one, at AS_OF when that is set)')
  .option('--days <count>', 'how many days', String(SAMPLE_DEFAULTS.days))
  .option('--seed <number>', 'equal seeds give equal files', String(SAMPLE_DEFAULTS.seed))
  .option('--requests-per-day <count>', 'requests on an average day', String(SAMPLE_DEFAULTS.requestsPerDay))
  .option('--json', 'print one JSON object instead of the path of sources.json')
  .action(async ({ folder, lastDay, days, seed, requestsPerDay, json }) => {
    const flags = parseNamed(Flags, {
      '--folder': folder,
      '--last-day': lastDay,
      '--days': days,
      '--seed': seed,
      '--requests-per-day': requestsPerDay,
    })
    const { dataDir, asOf = new Date() } = readPipelineConfig()
    const options = {
      folder: flags['--folder'] ?? join(dataDir, 'raw', 'sample'),
      lastDay: flags['--last-day'] ?? mostRecentCompletedDay(asOf),
      days: flags['--days'],
      seed: flags['--seed'],
      requestsPerDay: flags['--requests-per-day'],
    }
    const { writeSample } = await import('../raw/sample/write.ts')
    const { sourcesFile, files, records } = await withInterrupt((signal) => writeSample(options, { signal, report }))
    const summary = { sources_file: sourcesFile, files, records, synthetic: true }
    process.stdout.write(`${json === true ? JSON.stringify(summary) : sourcesFile}\n`)
  })

function report(event: BuildEvent): void {
  if (event.kind === 'done') process.stderr.write(`${event.stage}: ${event.detail}\n`)
}
