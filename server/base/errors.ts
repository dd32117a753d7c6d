/** An answer other than success, thrown by whoever finds the reason. */
export class ApiError extends Error {
  override name = 'ApiError'
  readonly status: number
  readonly metadata: Record<string, unknown> | undefined

  constructor(status: number, message: string, metadata?: Record<string, unknown>) {
    super(message)
    this.status = status
    this.metadata = metadata
  }
}

/** When to try again after an error that passes by itself. A 429 of a rate limit sets its own, exact `Retry-After`. */
export const RETRY_AFTER_SECONDS: Partial<Record<number, number>> = { 409: 1, 429: 5, 503: 5 }

/** What a request got wrong: `path` names the parameter or field. */
export interface RequestIssue {
  path: string
  message: string
}

/** The 400 for a request that breaks its schema: the message names each field, `metadata.issues` lists them. */
export function invalidRequest(issues: RequestIssue[]): ApiError {
  const message = issues.map(({ path, message }) => (path === '' ? message : `${path} ${message}`)).join('; ')
  return new ApiError(400, message, { issues })
}
