import { expect, test } from 'vitest'
import { toEnvelope } from '../../server/api/envelope.ts'
import { ApiError, invalidRequest } from '../../server/base/errors.ts'
import { StoreConflictError } from '../../server/store/retry.ts'

function fastifyError(code: string, statusCode: number): Error {
  return Object.assign(new Error('Body is not valid JSON'), { code, statusCode })
}

test('an ApiError is sent as it is, with the caller where one was recognised', () => {
  expect(toEnvelope(new ApiError(404, 'Resource not found'))).toEqual({
    status: 404,
    body: { error: { code: 404, message: 'Resource not found' } },
  })
  expect(toEnvelope(new ApiError(503, 'Not ready', { store: 'no answer' }), 'user_ada').body).toEqual({
    error: { code: 503, message: 'Not ready', metadata: { store: 'no answer' } },
    user_id: 'user_ada',
  })
})

test('an invalid request names its fields', () => {
  const issues = [
    { path: 'start_date', message: 'is not a date' },
    { path: '', message: 'is not an object' },
  ]
  expect(toEnvelope(invalidRequest(issues))).toEqual({
    status: 400,
    body: { error: { code: 400, message: 'start_date is not a date; is not an object', metadata: { issues } } },
  })
})

test('a StoreConflictError is a 409', () => {
  expect(toEnvelope(new StoreConflictError('locked')).body.error).toEqual({
    code: 409,
    message: 'Resource conflict. Please try again later.',
  })
})

test.each(['EMFILE', 'ENFILE'])('running out of open files (%s) is a 503', (code) => {
  const { status, body } = toEnvelope(Object.assign(new Error(`${code}: open '/srv/public/x'`), { code }))
  expect([status, body.error.message]).toEqual([503, 'The service is not available. Please try again later.'])
})

test('an error of Fastify keeps its message for a 4xx, and is a bare 500 otherwise', () => {
  expect(toEnvelope(fastifyError('FST_ERR_CTP_INVALID_JSON_BODY', 400)).body.error).toEqual({
    code: 400,
    message: 'Body is not valid JSON',
  })
  expect(toEnvelope(fastifyError('FST_ERR_REP_ALREADY_SENT', 500)).status).toBe(500)
  expect(toEnvelope(fastifyError('ERR_OTHER', 400)).status).toBe(500)
})

test.each([new Error('/etc/passwd'), new TypeError('x'), 'text', null, undefined, 42, { status: 404 }])(
  'any other thrown value is a 500 without a cause: %s',
  (thrown) => {
    expect(toEnvelope(thrown)).toEqual({
      status: 500,
      body: { error: { code: 500, message: 'Internal Server Error' } },
    })
  },
)
