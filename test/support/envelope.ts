import { expect } from 'vitest'

/** What an answer must have to be looked at: both `app.inject` and `fetch` can be brought to it. */
export interface ErrorAnswer {
  statusCode: number
  headers: Record<string, unknown>
  body: string
}

export interface Envelope {
  error: { code: number; message: string; metadata?: { issues?: { path: string; message: string }[] } }
  user_id?: string
}

/** Asserts that an answer is an error of `status` in the envelope, and returns it for closer looks. */
export function assertEnvelope(answer: ErrorAnswer, status: number): Envelope {
  expect(answer.statusCode).toBe(status)
  expect(answer.headers['content-type']).toBe('application/json; charset=utf-8')
  const body = JSON.parse(answer.body) as Envelope
  expect(Object.keys(body).filter((key) => !['error', 'user_id'].includes(key))).toEqual([])
  expect(Object.keys(body.error).filter((key) => !['code', 'message', 'metadata'].includes(key))).toEqual([])
  expect(body.error.code).toBe(status)
  expect(body.error.message).not.toBe('')
  expect(answer.body).not.toMatch(/\bat .+:\d+:\d+|node_modules|\/work\/|select |sqlite/i)
  return body
}
