import { BuildError, reasonOfFetch } from '../base/errors.ts'
import { counted } from '../base/numbers.ts'
import { PassingError, type Pause, realPause, retrying } from '../base/retrying.ts'
import { loginOf, withoutLogin } from './http-client.ts'

export interface WebhookOptions {
  signal: AbortSignal
  /** Aborts a try that takes too long. */
  timeout?: () => AbortSignal
  pause?: Pause
}

const TRY_MS = 5_000

/** Milliseconds before each new try. With all tries, a host that does not answer takes 20 seconds. */
const WAITS_MS = [1_000, 4_000] as const

/**
 * Posts a document as JSON, and again a few times if the host is down or busy: it may arrive twice. Follows no redirect.
 * Throws `BuildError` that names the host alone, because the rest of such an address is secret; the error of `signal` if
 * that is aborted.
 */
export async function postJson(
  address: string,
  document: object,
  { signal, timeout = () => AbortSignal.timeout(TRY_MS), pause = realPause }: WebhookOptions,
): Promise<void> {
  const url = new URL(address)
  const body = JSON.stringify(document)
  const failure = ({ message }: PassingError, tries: number) =>
    new BuildError(`${url.host} ${message}; it was asked ${counted(tries, 'time')}`)
  await retrying({ waitsMs: WAITS_MS, signal, pause, failure }, () =>
    post(url, body, AbortSignal.any([signal, timeout()])),
  )
}

async function post(url: URL, body: string, signal: AbortSignal): Promise<void> {
  const headers = { 'Content-Type': 'application/json', ...loginOf(url) }
  const { status, body: answer } = await fetch(withoutLogin(url), {
    method: 'POST',
    headers,
    body,
    // A redirect would turn the POST into a GET, or send it to somebody else.
    redirect: 'manual',
    signal,
  }).catch((error: unknown) => {
    throw new PassingError(isTimeout(error) ? 'does not answer' : `cannot be reached: ${reasonOfFetch(error)}`)
  })
  await answer?.cancel().catch(() => {})
  if (status >= 200 && status < 300) return
  const fault = `answered ${status}`
  if (status === 408 || status === 429 || status >= 500) throw new PassingError(fault)
  const isRedirect = status >= 300 && status < 400
  throw new BuildError(`${url.host} ${fault}${isRedirect ? ', a redirect, which is not followed' : ''}`)
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'TimeoutError'
}
