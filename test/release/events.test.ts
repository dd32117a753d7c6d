/** The chain of events: what it refuses to read. */
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { toJson } from '../../pipeline/base/json.ts'
import { generateKey, publicLine, readKey } from '../../pipeline/base/sshsig.ts'
import type { DatasetEvent, EventChain } from '../../pipeline/contract/events.ts'
import { EVENTS_PATH } from '../../pipeline/contract/published-paths.ts'
import { appendEvents, type EventDraft, keysInForce, NO_EVENTS, readEvents } from '../../pipeline/release/events.ts'
import { temporaryFolder } from '../support/folder.ts'

const AT = '2025-03-10T10:00:00Z'
const [OLD, NEW, RECOVERY, THIEF] = ['old', 'new', 'recovery', 'thief'].map(() => readKey(generateKey()))
if (OLD === undefined || NEW === undefined || RECOVERY === undefined || THIEF === undefined) throw new Error('no keys')

const added = (key: typeof OLD, role: 'signing' | 'recovery', signedBy?: typeof OLD): EventDraft => ({
  kind: 'key_added',
  at: AT,
  key: publicLine(key),
  role,
  signedBy,
  signedByItself: role === 'signing' ? key : undefined,
})
const retired = (key: typeof OLD, signedBy?: typeof OLD): EventDraft => ({
  kind: 'key_retired',
  at: AT,
  key: publicLine(key),
  signedBy,
})
const released = (hour: number): EventDraft => {
  const entry = `${hour}`.repeat(64)
  return { kind: 'release', at: AT, release: `20250310T0${hour}0000Z`, entry }
}

const FIRST = appendEvents(NO_EVENTS, [
  added(OLD, 'signing'),
  added(RECOVERY, 'recovery', OLD),
  released(1),
  released(2),
])

async function read(chain: EventChain): Promise<EventChain | undefined> {
  const root = await temporaryFolder()
  await mkdir(dirname(join(root, EVENTS_PATH)), { recursive: true })
  await writeFile(join(root, EVENTS_PATH), toJson(chain))
  return readEvents(root)
}

it('reads what it appended, and finds every event that was changed, moved or removed', async () => {
  expect(await read(FIRST)).toEqual(FIRST)
  const with_ = (events: DatasetEvent[]) => read({ ...FIRST, events })
  for (const [position, event] of FIRST.events.entries()) {
    const changed = FIRST.events.with(position, { ...event, at: '2025-03-10T10:00:01Z' })
    await expect(with_(changed)).rejects.toThrow(`event ${position + 1} (${event.kind}) was changed`)
    if (position === FIRST.events.length - 1) continue
    await expect(with_(FIRST.events.toSpliced(position, 1))).rejects.toThrow('or one before it was removed')
  }
  await expect(with_(FIRST.events.toReversed())).rejects.toThrow('event 1 (release) was changed')
})

it('refuses the key of the publisher in the chain of a forger, who can only sign for it with another key', async () => {
  const stolen: EventDraft = { ...added(OLD, 'signing', THIEF), signedByItself: THIEF }
  const forged = appendEvents(NO_EVENTS, [added(THIEF, 'signing'), stolen, retired(OLD, THIEF)])
  await expect(read(forged)).rejects.toThrow('has not signed the event that adds it')
})

it.each<[string, EventDraft[], string[] | undefined]>([
  ['the previous key', [added(NEW, 'signing', OLD), retired(OLD, OLD)], ['new', 'recovery']],
  ['the recovery key', [added(NEW, 'signing', RECOVERY), retired(OLD, RECOVERY)], ['new', 'recovery']],
  ['the recovery key, of itself', [added(NEW, 'recovery', RECOVERY), retired(RECOVERY, RECOVERY)], ['old', 'new']],
  ['nobody', [added(NEW, 'signing')], undefined],
  ['itself', [added(NEW, 'signing', NEW)], undefined],
  ['a key that was never in force', [added(NEW, 'signing', THIEF)], undefined],
  ['a key that was retired', [added(NEW, 'signing', OLD), retired(OLD, OLD), added(THIEF, 'signing', OLD)], undefined],
  ['the signing key, of the recovery key', [added(THIEF, 'recovery', OLD)], undefined],
  ['the signing key, against the recovery key', [retired(RECOVERY, OLD)], undefined],
])('a change of keys by %s', async (_, drafts, inForce) => {
  const chain = appendEvents(FIRST, drafts)
  if (inForce === undefined) await expect(read(chain)).rejects.toThrow('no key in force has signed the event')
  else {
    await read(chain)
    const names = { old: OLD, new: NEW, recovery: RECOVERY } as Record<string, typeof OLD>
    const keys = inForce.map((name) => publicLine(names[name] ?? THIEF))
    expect(new Set(keysInForce(chain.events, EVENTS_PATH).roles.keys())).toEqual(new Set(keys))
  }
})
