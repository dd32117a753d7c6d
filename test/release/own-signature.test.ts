import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { toJson } from '../../pipeline/base/json.ts'
import { generateKey, publicLine, readKey } from '../../pipeline/base/sshsig.ts'
import type { PublicKey } from '../../pipeline/contract/events.ts'
import { EVENTS_PATH } from '../../pipeline/contract/published-paths.ts'
import { appendEvents, type EventDraft, NO_EVENTS, readEvents } from '../../pipeline/release/events.ts'
import { newWorkspace } from '../support/pipeline.ts'

const at = '2025-03-10T12:00:00Z'

it('a forger cannot put the key of somebody else into a chain', async () => {
  const { publicDir } = await newWorkspace()
  const [forger, publisher] = [readKey(generateKey()), readKey(generateKey())]
  const added = (key: PublicKey, signedByItself: typeof forger, signedBy?: typeof forger): EventDraft => {
    return { kind: 'key_added', at, key, role: 'signing', signedBy, signedByItself }
  }
  const forged = appendEvents(NO_EVENTS, [
    added(publicLine(forger), forger),
    added(publicLine(publisher), forger, forger),
    { kind: 'key_retired', at, key: publicLine(publisher), signedBy: forger },
  ])
  const path = join(publicDir, EVENTS_PATH)
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, toJson(forged))
  await expect(readEvents(publicDir)).rejects.toThrow('has not signed the event that adds it')
})
