import { Command } from '@commander-js/extra-typings'
import { readPipelineConfig } from '../base/config.ts'
import { BuildError } from '../base/errors.ts'
import { counted } from '../base/numbers.ts'
import type { NumberedInput } from '../release/inputs.ts'
import { shown } from '../release/provenance-differences.ts'
import type { Reproduction } from '../reproduce.ts'
import { say } from './output.ts'
import { withEffects } from './running.ts'

export const reproduce = new Command('reproduce')
  .description('Make a release again from its raw files, in a temporary folder, and compare every file.')
  .argument('[release]', 'such as 20261120T001200Z; the current one by default')
  .option('--json', 'print the comparison as one JSON object on stdout')
  .addHelpText(
    'after',
    '\nSettings (environment): SOURCES, DATA_DIR, PUBLIC_DIR, MEMORY_LIMIT, and those of ClickHouse (build --help).',
  )
  .action(async (release, { json = false }) => {
    const config = readPipelineConfig()
    const module = await import('../reproduce.ts')
    const reproduction = await withEffects((effects) => module.reproduce(config, effects, release))
    if (json) process.stdout.write(`${JSON.stringify(reproduction)}\n`)
    if (!reproduction.equal) throw new BuildError(explain(reproduction))
    const { files } = reproduction
    say(`reproduced ${reproduction.release}: all ${counted(files.length, 'file')} have the bytes that were published\n`)
  })

export function explain({ release, files, dates, provenance, left_out }: Reproduction): string {
  const others = files.filter(({ comparison }) => comparison !== 'equal').map(({ path }) => path)
  const inputs = (which: readonly NumberedInput[]) =>
    listed(which.map(({ ordinal, sha256, file }) => `${file ?? `number ${ordinal}`} (SHA-256 ${shown(sha256)}…)`))
  const { tools, gone, other } = provenance
  const reasons = [
    gone.length > 0 && `inputs that are missing or have changed: ${inputs(gone)}`,
    gone.length > 0 && left_out.length > 0 && `files that are new or have changed since: ${listed(left_out)}`,
    other.length > 0 && `inputs that it was not made from, now archived or kept: ${inputs(other)}`,
    ...tools,
  ].filter((reason) => reason !== false)
  return [
    `${release} was not reproduced: ${others.length} of ${files.length} files differ: ${listed(others)}`,
    ...(dates.length > 0 ? [`  dates with other rows: ${listed(dates.map(({ date }) => date))}`] : []),
    ...(reasons.length > 0 ? reasons : [UNEXPLAINED]).map((reason) => `  ${reason}`),
  ].join('\n')
}

const UNEXPLAINED =
  'nothing that provenance.json names is the reason; what the sources file says of the files may have changed since, ' +
  'such as columns, time zones and visibility'

const NAMES_SHOWN = 8

function listed(names: readonly string[]): string {
  const more = names.length > NAMES_SHOWN ? ` and ${names.length - NAMES_SHOWN} more` : ''
  return `${names.slice(0, NAMES_SHOWN).join(', ')}${more}`
}
