import { Command, CommanderError } from '@commander-js/extra-typings'
import { DONE, exitCodeOf, FAILED, WRONG_USAGE } from '../base/failure.ts'
import { GENERATOR } from '../base/version.ts'
import { archive } from './archive.ts'
import { build } from './build.ts'
import { catalog } from './catalog.ts'
import { derive } from './derive.ts'
import { disclosure } from './disclosure.ts'
import { exportCopy } from './export.ts'
import { init } from './init.ts'
import { inspect } from './inspect.ts'
import { key } from './key.ts'
import { keygen } from './keygen.ts'
import { models } from './models.ts'
import { printError } from './output.ts'
import { rejects } from './rejects.ts'
import { reproduce } from './reproduce.ts'
import { sample } from './sample.ts'
import { serve } from './serve.ts'
import { status } from './status.ts'
import { store } from './store.ts'
import { verify } from './verify.ts'
import { withdraw } from './withdraw.ts'

export const EXIT_CODES = {
  [DONE]: 'done',
  [FAILED]: 'something failed: stderr says what, and the current release stays as it was',
  [WRONG_USAGE]: 'wrong usage: a flag, a setting, the sources file or a file that it names',
}

export function createProgram(): Command {
  const program = new Command('tokenboard')
    .description("Turn an LLM gateway's raw usage logs into a public dataset, and serve it.")
    .version(
      `${GENERATOR.name} ${GENERATOR.version} (DuckDB ${GENERATOR.duckdb}, Node ${process.version})`,
      '--version',
    )
    .configureHelp({ showGlobalOptions: true })
  for (const command of [
    init,
    build,
    archive,
    withdraw,
    exportCopy,
    status,
    serve,
    verify,
    keygen,
    derive,
    reproduce,
    inspect,
    models,
    disclosure,
    rejects,
    key,
    catalog,
    store,
    sample,
  ])
    program.addCommand(command)
  return throwInsteadOfExit(program)
}

/** Commander exits with code 1 on wrong usage; here `run` decides every exit code. */
function throwInsteadOfExit(command: Command): Command {
  command.exitOverride()
  command.configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'tokenboard: ')) })
  for (const child of command.commands) throwInsteadOfExit(child as Command)
  return command
}

/** Runs the program and returns its exit code: 0 done, 1 failed, 2 wrong usage. */
export async function run(words: readonly string[]): Promise<number> {
  try {
    await createProgram().parseAsync(words, { from: 'user' })
    return DONE
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === DONE ? DONE : WRONG_USAGE
    printError(error)
    return exitCodeOf(error)
  }
}
