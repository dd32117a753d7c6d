import { enableCompileCache } from 'node:module'
import { join } from 'node:path'

// What was compiled once need not be compiled again. Said before any other module is loaded, and so in a file of its own;
// kept where the code itself lies, for whoever can write there decides what runs.
enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/compiled'))

const { ignoreClosedPipes } = await import('./commands/output.ts')
ignoreClosedPipes(process.stdout, process.stderr)
const { run } = await import('./commands/program.ts')
process.exitCode = await run(process.argv.slice(2))
