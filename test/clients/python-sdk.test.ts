/**
 * The official SDK of PyPI, newest and 0.10.0, against a server that listens. It refuses an answer that lacks a required
 * key. Where there is no PyPI the tests are skipped and say so.
 */
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { NewKey } from '../../server/store/keys.ts'
import { someModels } from '../support/embeddings-models.ts'
import { skipLoudly } from '../system/hosting.ts'
import { pythonWith } from './python.ts'
import { startForClients } from './server.ts'
import { runTool } from './tools.ts'

const PROGRAM = join(import.meta.dirname, 'python_sdk.py')

const LIMIT = { scope: 'key_limit', limit_usd: 25.5, spend_usd: 0, remaining_usd: 25.5, reset_interval: 'monthly' }

describe.each(['1.3.84', '0.10.0'])('PyPI openrouter %s', (sdk) => {
  it.for<[string, NewKey, object | null]>([
    ['with a limit', { limitUsd: '25.5', limitReset: 'monthly' }, LIMIT],
    ['without a limit', {}, null],
  ])('calls the five operations with a key %s', async ([, details, budget], { skip }) => {
    const python = await pythonWith([`openrouter==${sdk}`])
    if (!('bin' in python)) {
      skipLoudly(skip, python.reason)
    }
    const { url, key } = await startForClients(details)
    const { code, stdout, stderr } = await runTool(join(python.bin, 'python'), [PROGRAM, url, key])
    expect(code, stderr).toBe(0)
    const read = JSON.parse(stdout)
    expect(read).toMatchObject({ rows: 2 * 51, version: 1, models: someModels(3).map(({ id }) => id) })
    // 0.10.0 knows neither periods nor budgets, which it drops.
    if (sdk === '0.10.0') return
    expect(read.dates).toEqual({
      week: ['2025-01-06', '2025-01-13', '2025-01-20', '2025-01-27', '2025-02-03'],
      month: ['2025-01-01', '2025-02-01'],
    })
    if (budget === null) expect(read.key).toMatchObject({ budgets: [], effective_budget: null })
    else expect(read.key).toMatchObject({ budgets: [budget], effective_budget: budget })
  })
})
