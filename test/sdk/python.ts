/** What a version of the official SDK of PyPI must do. It refuses an answer that lacks a required key. */
import { join } from 'node:path'
import { expect, type TestContext } from 'vitest'
import { pythonWith } from '../clients/python.ts'
import { startForClients } from '../clients/server.ts'
import { runTool } from '../clients/tools.ts'
import { someModels } from '../support/embeddings-models.ts'
import { skipLoudly } from '../system/hosting.ts'

const LIMIT = { scope: 'key_limit', limit_usd: 25.5, spend_usd: 0, remaining_usd: 25.5, reset_interval: 'monthly' }

/** The newest, in `make test-system` too. */
export const NEWEST_PYTHON_SDK = 'openrouter==1.3.84'

/** Runs a program of this folder with a version of the SDK, such as `openrouter==1.3.84`. */
export async function runPython(
  { skip }: TestContext,
  sdk: string,
  program: string,
  words: string[] = [],
): Promise<string> {
  const python = await pythonWith([sdk])
  if (!('bin' in python)) skipLoudly(skip, python.reason)
  const { code, stdout, stderr } = await runTool(join(python.bin, 'python'), [
    join(import.meta.dirname, program),
    ...words,
  ])
  expect(code, stderr).toBe(0)
  return stdout
}

/** Calls the five operations with two keys, of which the first has a limit. Gives what it read. */
export async function callFromPython(context: TestContext, sdk: string) {
  const { url, key, createKey } = await startForClients({ limitUsd: '25.5', limitReset: 'monthly' })
  return JSON.parse(await runPython(context, sdk, 'python_calls.py', [url, key, await createKey({})]))
}

/** What all versions read. */
export const READ = { rows: 2 * 51, version: 1, models: someModels(3).map(({ id }) => id) }

/** What the newest version reads in addition. */
export const READ_BY_NEWEST = {
  dates: {
    week: ['2025-01-06', '2025-01-13', '2025-01-20', '2025-01-27', '2025-02-03'],
    month: ['2025-01-01', '2025-02-01'],
  },
  keys: [
    { budgets: [LIMIT], effective_budget: LIMIT },
    { budgets: [], effective_budget: null },
  ],
}
