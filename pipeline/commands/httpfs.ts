import { Command } from '@commander-js/extra-typings'
import { withInterrupt } from './interrupt.ts'

export const httpfs = new Command('httpfs')
  .description("Download DuckDB's extension httpfs, 22 MB, for sources whose files are s3:// URLs.")
  .option('--json', 'print what was installed as one JSON object on stdout')
  .addHelpText('after', '\nIt is kept in .duckdb below HOME, for the version of DuckDB that came with this project.')
  .action(async ({ json = false }) => {
    const { installHttpfs } = await import('../raw/objects/install.ts')
    const installed = await withInterrupt(installHttpfs)
    if (json) process.stdout.write(`${JSON.stringify(installed)}\n`)
    else process.stderr.write(`httpfs for DuckDB ${installed.version} is installed: ${installed.path}\n`)
  })
