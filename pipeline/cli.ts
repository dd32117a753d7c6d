import { enableCompileCache } from 'node:module'

// What was compiled once need not be compiled again. Said before any other module is loaded, and so in a file of its own.
enableCompileCache()

const { run } = await import('./program.ts')
process.exitCode = await run(process.argv.slice(2))
