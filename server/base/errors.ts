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

/** `Retry-After` for temporary errors. Rate limits set an exact one. */
export const RETRY_AFTER_SECONDS: Partial<Record<number, number>> = { 409: 1, 429: 5, 503: 5 }

export interface RequestIssue {
  path: string
  message: string
}

/** The 400 for a request that does not fit its schema. `metadata.issues` lists each field. */
export function invalidRequest(issues: RequestIssue[]): ApiError {
  const message = issues.map(({ path, message }) => (path === '' ? message : `${path} ${message}`)).join('; ')
  return new ApiError(400, message, { issues })
}
