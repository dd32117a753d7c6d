import { Command } from '@commander-js/extra-typings'
import { readPipelineConfig } from '../config.ts'
import { withInterrupt } from './interrupt.ts'

/** `tokenboard verify`: re-reads the published files and proves them. */
export const verify = new Command('verify')
  .description(
    'Read the published files again and prove them: checksums, hashes, equal rows in every format, the chain.',
  )
  .option('--json', 'print what was proved as one JSON object on stdout')
  .action(async ({ json }) => {
    const { publicDir } = readPipelineConfig()
    const module = await import('../verify.ts')
    const report = ({ release, rows }: { release: string; rows: number }) =>
      process.stderr.write(`${release}: ${rows} rows, the same in every format\n`)
    const summary = await withInterrupt((signal) => module.verify(publicDir, { signal, report }))
    if (json === true) process.stdout.write(`${JSON.stringify(summary)}\n`)
    else
      process.stderr.write(
        `verified ${summary.releases} releases with ${summary.files} files; ${summary.latest} is current\n`,
      )
  })
