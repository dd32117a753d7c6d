/** The official SDK of PyPI, newest and oldest that has the five operations. */
import { expect, it } from 'vitest'
import { callFromPython, NEWEST_PYTHON_SDK, READ, READ_BY_NEWEST } from '../sdk/python.ts'
import { TAKES_NEWEST } from './newest.ts'

it(`${NEWEST_PYTHON_SDK} of PyPI calls the five operations`, async (context) => {
  expect(await callFromPython(context, NEWEST_PYTHON_SDK)).toMatchObject({ ...READ, ...READ_BY_NEWEST })
})

// It knows neither periods nor budgets, which it drops.
it.skipIf(TAKES_NEWEST)('openrouter 0.10.0 of PyPI calls the five operations', async (context) => {
  expect(await callFromPython(context, 'openrouter==0.10.0')).toMatchObject(READ)
})
