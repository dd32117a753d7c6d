/** The newest official SDK of PyPI. `make test-clients` has the oldest too. Where there is no PyPI it is skipped and says so. */
import { expect, it } from 'vitest'
import { callFromPython, NEWEST_PYTHON_SDK, READ, READ_BY_NEWEST } from '../sdk/python.ts'

it(`${NEWEST_PYTHON_SDK} of PyPI calls the five operations`, async (context) => {
  expect(await callFromPython(context, NEWEST_PYTHON_SDK)).toMatchObject({ ...READ, ...READ_BY_NEWEST })
})
