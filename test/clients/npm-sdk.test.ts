/** The official SDKs of npm. `make test` has the newest too. Where there is no npm they are skipped and say so. */

import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, it } from 'vitest'
import { type Sdk, testCalls } from '../sdk/calls.ts'
import { skipLoudly } from '../system/hosting.ts'
import { TAKES_NEWEST } from './newest.ts'
import { npmWith } from './tools.ts'

/** The newest, and one of the line before it. */
const VERSIONS = ['@openrouter/sdk@1.3.19', ...(TAKES_NEWEST ? [] : ['@openrouter/sdk@1.2.126'])]

async function load(version: string): Promise<Sdk | { reason: string }> {
  const made = await npmWith([version])
  if (!('folder' in made)) return made
  const folder = join(made.folder, 'node_modules/@openrouter/sdk/esm')
  const fromFolder = (path: string) => import(pathToFileURL(join(folder, path)).href)
  return { sdk: await fromFolder('index.js'), errors: await fromFolder('models/errors/index.js') }
}

describe.each(await Promise.all(VERSIONS.map(async (version) => [version, await load(version)] as const)))(
  '%s',
  (_version, loaded) => {
    if ('sdk' in loaded) testCalls(loaded)
    else it('is not tested', ({ skip }) => skipLoudly(skip, loaded.reason))
  },
)
