import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { mutatedMessageRequest, nested, validMessageRequest } from '../support/message-request.ts'
import type { Dice } from './dice.ts'
import { BROKEN_BODIES, OTHER_TYPES } from './endpoint-values.ts'

/** A body, what is said of it in headers, and what it may be answered by where all else is right. */
export interface ProbeBody {
  what: string
  headers: [string, string][]
  bytes: Buffer
  statuses: number[]
}

const JSON_TYPES = ['application/json', 'application/json; charset=utf-8', 'Application/JSON']
const MOST_BYTES = 4 * 2 ** 20

/** Kinds of bodies, each with its share of all. */
const KINDS: [share: number, make: (dice: Dice) => ProbeBody][] = [
  [35, (dice) => json(dice, 'a good body', sample(dice, validMessageRequest), [200])],
  [35, (dice) => json(dice, 'a spoilt body', sample(dice, mutatedMessageRequest), [200, 400])],
  [10, (dice) => json(dice, 'a broken body', dice.pick(BROKEN_BODIES), [400])],
  [3, (dice) => json(dice, 'random bytes', randomBytes(dice), [400])],
  [3, (dice) => json(dice, 'a deep body', deepBody(dice), [200, 400])],
  [1, (dice) => json(dice, 'too large a body', Buffer.alloc(MOST_BYTES + 1 + dice.below(MOST_BYTES), ' '), [413])],
  [6, (dice) => ofType(dice, dice.pick(OTHER_TYPES))],
  [3, (dice) => ofType(dice, undefined)],
  [4, compressed],
]
const KIND_OF_POINT = KINDS.flatMap(([share, make]) => Array(share).fill(make) as (typeof make)[])

export function bodyFrom(dice: Dice): ProbeBody {
  return dice.pick(KIND_OF_POINT)(dice)
}

function json(dice: Dice, what: string, bytes: Buffer, statuses: number[]): ProbeBody {
  return { what, headers: [['content-type', dice.pick(JSON_TYPES)]], bytes, statuses }
}

function ofType(dice: Dice, type: string | undefined): ProbeBody {
  const bytes = sample(dice, validMessageRequest)
  return {
    what: `a body of type ${type}`,
    headers: type === undefined ? [] : [['content-type', type]],
    bytes,
    statuses: [415],
  }
}

function compressed(dice: Dice): ProbeBody {
  const { headers } = json(dice, '', Buffer.alloc(0), [])
  const bytes = gzipSync(sample(dice, validMessageRequest))
  const coding: [string, string] = ['content-encoding', dice.pick(['gzip', 'br', 'GZIP'])]
  return { what: 'a compressed body', headers: [...headers, coding], bytes, statuses: [415] }
}

function sample(dice: Dice, arbitrary: fc.Arbitrary<object>): Buffer {
  return Buffer.from(JSON.stringify(fc.sample(arbitrary, { numRuns: 1, seed: dice.below(2 ** 31) })[0]))
}

function randomBytes(dice: Dice): Buffer {
  return Buffer.from(Array.from({ length: dice.below(200) }, () => dice.below(256)))
}

function deepBody(dice: Dice): Buffer {
  return Buffer.from(JSON.stringify({ model: 'm', messages: [], provider: { x: nested(200 + dice.below(1500)) } }))
}
