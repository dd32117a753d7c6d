/** The chain of events: what it refuses to read. Keys that others sign for are in `test/publication/trust.test.ts`. */
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { toJson } from '../../pipeline/base/json.ts'
import type { DatasetEvent, EventChain } from '../../pipeline/contract/events.ts'
import { EVENTS_PATH } from '../../pipeline/contract/published-paths.ts'
import { appendEvents, type EventDraft, NO_EVENTS, readEvents } from '../../pipeline/release/events.ts'
import { temporaryFolder } from '../support/folder.ts'
import { keyAdded, newHolder } from '../support/signed-history.ts'

const at = '2025-03-10T10:00:00Z'
const [key, recovery, thief] = [newHolder(), newHolder(), newHolder()]
const released = (hour: number): EventDraft => {
  return { kind: 'release', at, release: `20250310T0${hour}0000Z`, entry: `${hour}`.repeat(64) }
}

async function read(chain: EventChain): Promise<EventChain | undefined> {
  const root = await temporaryFolder()
  await mkdir(dirname(join(root, EVENTS_PATH)), { recursive: true })
  await writeFile(join(root, EVENTS_PATH), toJson(chain))
  return readEvents(root)
}

it('reads what it appended, and finds every event that was changed, moved or removed', async () => {
  const keys = [keyAdded(key, 'signing', { at }), keyAdded(recovery, 'recovery', { at, by: key })]
  const chain = appendEvents(NO_EVENTS, [...keys, released(1), released(2)])
  expect(await read(chain)).toEqual(chain)
  const with_ = (events: DatasetEvent[]) => read({ ...chain, events })
  for (const [position, event] of chain.events.entries()) {
    const changed = chain.events.with(position, { ...event, at: '2025-03-10T10:00:01Z' })
    await expect(with_(changed)).rejects.toThrow(`event ${position + 1} (${event.kind}) was changed`)
    if (position === chain.events.length - 1) continue
    await expect(with_(chain.events.toSpliced(position, 1))).rejects.toThrow('or one before it was removed')
  }
  await expect(with_(chain.events.toReversed())).rejects.toThrow('event 1 (release) was changed')
})

it('refuses the key of the publisher in the chain of a forger, who can only sign for it with another key', async () => {
  const stolen: EventDraft = { ...keyAdded(key, 'signing', { at, by: thief }), signedByItself: thief.private }
  const retired: EventDraft = { kind: 'key_retired', at, key: key.public, signedBy: thief.private }
  const forged = appendEvents(NO_EVENTS, [keyAdded(thief, 'signing', { at }), stolen, retired])
  await expect(read(forged)).rejects.toThrow('has not signed the event that adds it')
})
