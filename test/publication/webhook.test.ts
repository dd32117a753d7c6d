/** Posting to a webhook that works, fails for a while, or fails for good. */
import { describe, expect, it } from 'vitest'
import { postJson, type WebhookOptions } from '../../pipeline/publication/webhook.ts'
import { type Answer, answers, startWebhook } from '../support/webhook.ts'

const PATH = '/services/T0/secret-path?token=secret'
const hangsUp: Answer = (response) => response.destroy()
const isSilent: Answer = () => {}

/** Posts to a server that follows a script. Pauses take no time and are noted, and a silent server is at once too slow. */
async function post(script: Answer[], options: Partial<WebhookOptions> = {}) {
  let slow = new AbortController()
  const timeout = () => {
    slow = new AbortController()
    return slow.signal
  }
  const isTooSlow: Answer = () => slow.abort(new DOMException('too slow', 'TimeoutError'))
  const { host, received } = await startWebhook(...script.map((answer) => (answer === isSilent ? isTooSlow : answer)))
  const pauses: number[] = []
  const pause = async (ms: number) => pauses.push(ms)
  const { signal } = new AbortController()
  const posted = postJson(`http://${host}${PATH}`, { text: 'héllo' }, { signal, pause, timeout, ...options })
  const error = await posted.then(
    () => undefined,
    (thrown: Error) => thrown,
  )
  return { host, received, pauses, error }
}

describe('a webhook', () => {
  it('gets a document as JSON, once', async () => {
    const { received, pauses, error } = await post([answers(204)])

    expect(error).toBeUndefined()
    expect(pauses).toEqual([])
    expect(received).toMatchObject([
      { method: 'POST', path: PATH, headers: { 'content-type': 'application/json' }, body: '{"text":"héllo"}' },
    ])
  })

  it('gets the user and password of its address in a header', async () => {
    const { host, received } = await startWebhook()
    await postJson(`http://ada:p%40ss@${host}/topic`, {}, { signal: new AbortController().signal })

    expect(received[0]?.headers.authorization).toBe(`Basic ${Buffer.from('ada:p@ss').toString('base64')}`)
  })

  it.each<[string, Answer]>([
    ['hangs up', hangsUp],
    ['is busy', answers(429)],
    ['fails', answers(503)],
    ['is silent', isSilent],
  ])('gets it again if it %s', async (_, answer) => {
    const { received, pauses, error } = await post([answer, answer, answers(200)])

    expect(error).toBeUndefined()
    expect(pauses).toEqual([1000, 4000])
    expect(received).toHaveLength(3)
  })

  it.each<[string, Answer, string, number]>([
    ['is down for long', answers(502), 'answered 502; it was asked 3 times', 3],
    ['hangs up for long', hangsUp, 'cannot be reached: other side closed; it was asked 3 times', 3],
    ['is silent for long', isSilent, 'does not answer; it was asked 3 times', 3],
    ['refuses', answers(404), 'answered 404', 1],
    ['leads elsewhere', answers(302, { Location: '/other' }), 'answered 302, a redirect, which is not followed', 1],
  ])('that %s fails with its host alone', async (_, answer, reason, tries) => {
    const { host, received, error } = await post([answer])

    expect(error?.message).toBe(`${host} ${reason}`)
    expect(received).toHaveLength(tries)
  })

  it('is left alone at once when it is interrupted, during a try and between two', async () => {
    const stop = new AbortController()
    const during = await post([() => stop.abort()], { signal: stop.signal })
    const between = new AbortController()
    const pause = async () => between.abort()
    const after = await post([answers(503)], { signal: between.signal, pause })

    for (const { received, error } of [during, after]) {
      expect(error?.name).toBe('AbortError')
      expect(received).toHaveLength(1)
    }
  })
})
