import { expect, test } from 'vitest'
import { toEnvelope } from '../../server/api/envelope.ts'

function fastifyError(code: string, statusCode: number): Error {
  return Object.assign(new Error('Body is not valid JSON'), { code, statusCode })
}

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
