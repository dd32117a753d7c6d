import { ApiError, type RequestIssue } from '../../../../server/base/errors.ts'
import { parseMessageRequest } from '../../../../server/schemas/message-request.ts'

/** The smallest request, with `more` in it. */
export function request(more: object = {}): Record<string, unknown> {
  return { model: 'm', messages: null, ...more }
}

/** The faults that the 400 for `body` lists; none when it is accepted. */
export function issuesOf(body: unknown): RequestIssue[] {
  try {
    parseMessageRequest(body)
    return []
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 400)) throw error
    const { issues } = error.metadata ?? {}
    return issues as RequestIssue[]
  }
}

/** The same as lines. */
export function faultsOf(body: unknown): string[] {
  return issuesOf(body).map(({ path, message }) => (path === '' ? message : `${path} ${message}`))
}
