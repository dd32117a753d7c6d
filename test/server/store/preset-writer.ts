/*
 * One of the processes of preset-writers.test.ts: `node preset-writer.ts STORE NAME`. It opens the store and says `ready`;
 * on `go` it makes its versions with several writers at once, tells each beat of its event loop, and at last what it made.
 */

import { presets } from '../../../server/store/presets.ts'
import { StoreConflictError } from '../../../server/store/retry.ts'
import { openStore } from '../../../server/store/store.ts'

export const PRESETS = 20
export const VERSIONS_PER_PROCESS = 200
export const AUTHOR = { workspace_id: '6f1d0c5e-8a51-4c59-9d1e-0f6a1c2b3d4e', creator_user_id: 'user_ada' }

const WRITERS = 4
const BEAT_MS = 10

/** A version that the store acknowledged; `mark` is in its config and nowhere else. */
export interface Acknowledged {
  slug: string
  version: number
  mark: string
}

export type Message = { kind: 'ready' } | { kind: 'beat' } | { kind: 'done'; acknowledged: Acknowledged[] }

if (import.meta.main) {
  const [path = '', name = ''] = process.argv.slice(2)
  const store = await openStore(`sqlite:${path}`)
  process.once(
    'message',
    () =>
      void work(name)
        .then(tell)
        .then(() => process.disconnect()),
  )
  await tell({ kind: 'ready' })

  async function work(name: string): Promise<Message> {
    const stored = presets(store, () => new Date())
    const jobs = Array.from({ length: VERSIONS_PER_PROCESS }, (_, index) => ({
      slug: `preset-${index % PRESETS}`,
      mark: `${name}-${index}`,
    })).values()
    const acknowledged: Acknowledged[] = []

    async function add(slug: string, mark: string) {
      const content = { config: { model: mark }, system_prompt: null }
      for (;;) {
        try {
          return await stored.addVersion(AUTHOR, slug, content)
        } catch (error) {
          // What a client does on 409.
          if (!(error instanceof StoreConflictError)) throw error
        }
      }
    }

    async function writer() {
      for (const { slug, mark } of jobs) {
        const { designated_version } = await add(slug, mark)
        acknowledged.push({ slug, version: designated_version.version, mark })
      }
    }

    const beats = setInterval(() => void tell({ kind: 'beat' }), BEAT_MS)
    await Promise.all(Array.from({ length: WRITERS }, writer))
    await store.close()
    clearInterval(beats)
    return { kind: 'done', acknowledged }
  }
}

async function tell(message: Message): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<unknown>()
  process.send?.(message, resolve)
  await promise
}
