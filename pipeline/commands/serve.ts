import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Command } from '@commander-js/extra-typings'
import type { ServerConfig } from '../../server/base/config.ts'
import type { ServerEffects } from '../../server/main.ts'
import { CliError } from '../base/errors.ts'
import { POINTER_PATH } from '../contract/published-paths.ts'
import { withInterrupt } from './running.ts'

export const serve = new Command('serve')
  .description('Serve the published files and the API. Builds first when there is no release yet.')
  .option('--host <address>', 'address to listen on (HOST, default 127.0.0.1)')
  .option('--port <number>', 'port to listen on, 0 for any (PORT, default 8080)')
  .action(async ({ host, port }) => {
    const config = await serverConfig({ HOST: host, PORT: port })
    if (!existsSync(join(config.publicDir, POINTER_PATH))) {
      await buildFirst(config)
    }
    const effects = {
      clock: () => new Date(),
      print: (line: string) => process.stdout.write(`${line}\n`),
      logStream: await logStream(process.stderr),
    }
    // Load the release in parallel with the server's modules.
    await (await import('../../server/published/loaders.ts')).loadAhead(config.publicDir)
    await withInterrupt(async (interrupted) => {
      const { startServer } = await import('../../server/main.ts')
      const server = await startServer(config, effects)
      if (!interrupted.aborted) await once(interrupted, 'abort')
      await server.close()
    })
  })

/** Logs are JSON, and lines for people in a terminal. */
async function logStream(stderr: typeof process.stderr): Promise<ServerEffects['logStream']> {
  if (!stderr.isTTY) return stderr
  const { linesForPeople } = await import('../../server/base/log-lines.ts')
  return linesForPeople(stderr, stderr.hasColors())
}

/** Makes the first release, once nothing else can keep the server from starting. */
async function buildFirst(config: ServerConfig): Promise<void> {
  const { tryToStart } = await import('../../server/main.ts')
  await tryToStart(config)
  await (await import('./build.ts')).runBuild({ json: false, wait: 0 })
}

/** Reads the settings of the server. Throws `CliError` for wrong ones. */
export async function serverConfig(overrides: Record<string, string | undefined> = {}): Promise<ServerConfig> {
  const { ConfigError, readServerConfig } = await import('../../server/base/config.ts')
  try {
    return readServerConfig(overrides)
  } catch (error) {
    throw error instanceof ConfigError ? new CliError(error.faults) : error
  }
}
