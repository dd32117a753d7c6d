import { recordOf } from './metadata.ts'
import type { DepositedRelease } from './release.ts'
import { draftPath, filePath } from './repository.ts'
import type { DepositState } from './state.ts'

/** A request that would be sent. `body` is JSON, and `bytes` the length of a file that is sent as it is. */
export interface PlannedRequest {
  method: 'GET' | 'POST' | 'PUT'
  url: string
  body?: unknown
  bytes?: number
}

/** The requests of a deposit that nothing interrupts, in order. What the repository decides is in braces: `{id}`. */
export function plannedRequests(
  { manifest, files }: DepositedRelease,
  state: DepositState,
  publish: boolean,
): PlannedRequest[] {
  const { repository } = state.deposits
  const body = recordOf(manifest)
  const known = state.of(manifest.release)
  const id = known?.id ?? '{id}'
  const [, previous] = state.newestPublished() ?? []
  const urlOf = (path: string) => (repository + path).replaceAll(encodeURIComponent('{id}'), '{id}')
  const first: PlannedRequest[] =
    previous === undefined
      ? [{ method: 'POST', url: urlOf('/api/records'), body }]
      : [
          { method: 'POST', url: urlOf(`/api/records/${previous.id}/versions`) },
          { method: 'PUT', url: urlOf(draftPath(id)), body: { ...body, pids: {} } },
        ]
  return [
    ...(known === undefined ? first : []),
    { method: 'POST', url: urlOf(`${draftPath(id)}/pids/doi`) },
    { method: 'POST', url: urlOf(`${draftPath(id)}/files`), body: files.map(({ key }) => ({ key })) },
    ...files.flatMap(({ key, bytes }): PlannedRequest[] => [
      { method: 'PUT', url: urlOf(`${filePath(id, key)}/content`), bytes },
      { method: 'POST', url: urlOf(`${filePath(id, key)}/commit`) },
    ]),
    ...(publish ? [{ method: 'POST', url: urlOf(`${draftPath(id)}/actions/publish`) } as const] : []),
  ]
}
