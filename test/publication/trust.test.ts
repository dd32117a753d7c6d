/** What a reader knows of a site from before or from elsewhere: a key, a pin. The trees of forgers are in `attacks.test.ts`. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fingerprintOf } from '../../pipeline/base/sshsig.ts'
import type { EventChain, KeyRole } from '../../pipeline/contract/events.ts'
import { type Pin, signingKeys, type Trust, verifyTrust } from '../../pipeline/publication/trust.ts'
import { appendEvents, type EventDraft, keysInForce, NO_EVENTS } from '../../pipeline/release/events.ts'
import { tries } from '../support/property.ts'
import { type Holder, keyAdded, newHolder } from '../support/signed-history.ts'

const at = '2025-03-10T10:00:00.000Z'
const issued = '2025-03-10T12:00:00.000Z'
const [first, recovery, second, third, stranger] = [newHolder(), newHolder(), newHolder(), newHolder(), newHolder()]
const fingerprint = (holder: Holder) => fingerprintOf(holder.public)

function add(holder: Holder, role: KeyRole, by?: Holder): EventDraft {
  return keyAdded(holder, role, { at, by })
}

function retire(holder: Holder, by: Holder): EventDraft {
  return { kind: 'key_retired', at, key: holder.public, signedBy: by.private }
}

const START = appendEvents(NO_EVENTS, [add(first, 'signing'), add(recovery, 'recovery', first)])
const ROTATED = appendEvents(START, [add(second, 'signing', first), retire(first, first)])
const RECOVERED = appendEvents(ROTATED, [add(third, 'signing', recovery), retire(second, recovery)])
const LOST = appendEvents(RECOVERED, [{ kind: 'key_lost', at }, add(stranger, 'signing')])

function pinOf({ events }: EventChain): Pin {
  return { keys: signingKeys(events), events: events.length, head: events.at(-1)?.hash ?? '', issued }
}

/** A site with these events, of which this key is in force. */
function trusting(chain: EventChain, signer: Holder, trust: Trust): () => void {
  expect(keysInForce(chain.events, 'chain.json').roles.get(signer.public)).toBe('signing')
  return () => verifyTrust(chain, issued, trust)
}

describe('a key from elsewhere', () => {
  it.each([
    ['that signed the site', ROTATED, second, second],
    ['that was retired, and signed for the next one', ROTATED, second, first],
    ['that signed for the recovery key, which signed for the next one', RECOVERED, third, first],
    ['that was retired, though recovery signed for the next one', RECOVERED, third, second],
    ['that came after a loss', LOST, stranger, stranger],
  ] as const)('%s leads to it', (_which, chain, signer, key) => {
    expect(trusting(chain, signer, { key: fingerprint(key) })).not.toThrow()
  })

  it.each([
    ['that was never one of the site', ROTATED, second, stranger, 'was never a signing key of this site'],
    ['of recovery, which anybody can name', RECOVERED, third, recovery, 'was never a signing key of this site'],
    ['from before a loss', LOST, stranger, first, 'its keys were lost'],
  ] as const)('%s does not', (_which, chain, signer, key, message) => {
    expect(trusting(chain, signer, { key: fingerprint(key) })).toThrow(message)
  })
})

describe('a pin', () => {
  it.each([
    ['of the same', ROTATED, second, ROTATED],
    ['from before a rotation', RECOVERED, third, START],
  ] as const)('%s holds', (_which, chain, signer, seen) => {
    expect(trusting(chain, signer, { pin: pinOf(seen) })).not.toThrow()
  })

  it.each([
    ['of more events', START, first, ROTATED, 'it is an older copy, or events were removed'],
    [
      'of other events',
      RECOVERED,
      third,
      appendEvents(START, [{ kind: 'signing_stopped', at }]),
      'the past was rewritten',
    ],
    ['from before a loss', LOST, stranger, RECOVERED, 'its keys were lost'],
  ] as const)('%s does not hold', (_which, chain, signer, seen, message) => {
    expect(trusting(chain, signer, { pin: pinOf(seen) })).toThrow(message)
  })

  it('of a later signature does not hold', () => {
    const pin = { ...pinOf(ROTATED), issued: '2025-03-10T12:00:01.000Z' }
    expect(trusting(ROTATED, second, { pin })).toThrow(
      'the site was signed at 2025-03-10T12:00:00.000Z, and what was pinned',
    )
  })

  it('gives way to a key that it does not have, which then must lead to the site', () => {
    const pin = pinOf(RECOVERED)
    expect(trusting(LOST, stranger, { pin, key: fingerprint(stranger) })).not.toThrow()
    expect(trusting(LOST, stranger, { pin, key: fingerprint(recovery) })).toThrow(
      'was never a signing key of this site',
    )
    expect(trusting(LOST, stranger, { pin, key: fingerprint(first) })).toThrow('its keys were lost')
  })
})

const HOLDERS = [first, recovery, second]
const step = fc.record({
  kind: fc.constantFrom('key_added', 'key_added', 'key_retired', 'key_lost', 'signing_stopped', 'signing_resumed'),
  holder: fc.nat(HOLDERS.length - 1),
  role: fc.constantFrom<KeyRole>('signing', 'recovery'),
  by: fc.option(fc.nat(HOLDERS.length), { nil: undefined }),
})
interface Step {
  kind: string
  holder: number
  role: KeyRole
  by: number | undefined
}

/** The rules once more, over the numbers of holders: undefined if a step is against them. */
function oracle(steps: readonly Step[]): Record<number, KeyRole> | undefined {
  let keys: Record<number, KeyRole> = {}
  let mayBegin = true
  for (const { kind, holder, role, by } of steps) {
    if (kind === 'key_lost') [keys, mayBegin] = [{}, true]
    if (!kind.startsWith('key_') || kind === 'key_lost') continue
    const isAdded = kind === 'key_added'
    const isInForce = holder in keys
    if (mayBegin) {
      if (!isAdded || role === 'recovery' || by !== undefined) return undefined
    } else {
      if (isAdded === isInForce || by === undefined || !(by in keys)) return undefined
      const isOfRecovery = isAdded ? role === 'recovery' : keys[holder] === 'recovery'
      const mustRecover = isOfRecovery && Object.values(keys).includes('recovery')
      if (mustRecover && keys[by] !== 'recovery') return undefined
    }
    mayBegin = false
    if (isAdded) keys[holder] = role
    else delete keys[holder]
  }
  return keys
}

function chainOf(steps: readonly Step[]): EventChain {
  const drafts = steps.map(({ kind, holder, role, by }) => {
    const key = HOLDERS[holder]?.public ?? ''
    const signedBy = by === undefined ? undefined : (HOLDERS[by] ?? stranger).private
    const signedByItself = role === 'signing' ? HOLDERS[holder]?.private : undefined
    const ofKey = { key_added: { key, role, signedBy, signedByItself }, key_retired: { key, signedBy } }
    return { kind, at, ...ofKey[kind as keyof typeof ofKey] } as EventDraft
  })
  return appendEvents(NO_EVENTS, drafts)
}

describe('the keys in force', () => {
  const { options, timeout_ms, numRuns } = tries({ share: 200 })
  it('are those of every sequence that the rules allow, and others are refused', { timeout: timeout_ms }, () => {
    let allowed = 0
    // A key comes first, as a random sequence seldom begins well.
    const begin: Step = { kind: 'key_added', holder: 0, role: 'signing', by: undefined }
    const property = fc.property(fc.array(step, { maxLength: 4 }), fc.boolean(), (more, isBegun) => {
      const steps = isBegun
        ? [begin, { kind: 'key_added', holder: 1, role: 'recovery' as const, by: 0 }, ...more]
        : more
      const expected = oracle(steps)
      const { events } = chainOf(steps)
      if (expected === undefined) {
        expect(() => keysInForce(events, 'chain.json')).toThrow('chain.json: no key in force has signed')
      } else {
        const named = Object.entries(expected).map(([holder, role]) => [HOLDERS[Number(holder)]?.public, role] as const)
        expect(keysInForce(events, 'chain.json').roles).toEqual(new Map(named))
        allowed += 1
      }
    })
    fc.assert(property, options)
    expect(allowed).toBeGreaterThan(numRuns / 20)
  })

  it.each([
    ['the recovery key again, as a signing key', [add(recovery, 'signing', first), add(stranger, 'recovery', first)]],
    [
      'any key, once the last one was retired',
      [retire(recovery, recovery), retire(first, first), add(stranger, 'signing')],
    ],
  ] as const)('are not %s', (_what, drafts) => {
    const { events } = appendEvents(START, drafts)
    expect(() => keysInForce(events, 'chain.json')).toThrow('no key in force has signed the event that adds')
  })
})
