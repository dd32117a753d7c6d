import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { mutatedMessageRequest, nested, validMessageRequest } from '../support/message-request.ts'
import type { Dice } from './dice.ts'
import { BROKEN_BODIES, OTHER_TYPES } from './endpoint-values.ts'

/** A body with the headers that describe it, and how it may be answered where all else is right. */
export interface ProbeBody {
  what: string
  headers: [string, string][]
  bytes: Buffer
  statuses: number[]
}

const JSON_TYPES = ['application/json', 'application/json; charset=utf-8', 'Application/JSON']
const MOST_BYTES = 4 * 2 ** 20

/** Kinds of bodies, each with its share in percent. */
const KINDS: [share: number, make: (dice: Dice) => ProbeBody][] = [
  [35, (dice) => json(dice, 'a good body', valid(dice), [200])],
  [35, (dice) => json(dice, 'a partly wrong body', sample(dice, mutatedMessageRequest), [200, 400])],
  [10, (dice) => json(dice, 'a broken body', dice.pick(BROKEN_BODIES), [400])],
  [3, (dice) => json(dice, 'random bytes', randomBytes(dice), [400])],
  [3, (dice) => json(dice, 'a deep body', deepBody(dice), [200, 400])],
  [1, (dice) => json(dice, 'too large a body', Buffer.alloc(MOST_BYTES + 1 + dice.below(MOST_BYTES), ' '), [413])],
  [6, (dice) => unsupported(valid(dice), [['content-type', dice.pick(OTHER_TYPES)]])],
  [3, (dice) => unsupported(valid(dice), [])],
  [
    4,
    (dice) =>
      unsupported(gzipSync(valid(dice)), [
        ['content-type', dice.pick(JSON_TYPES)],
        ['content-encoding', dice.pick(['gzip', 'br', 'GZIP'])],
      ]),
  ],
]
const KIND_OF_POINT = KINDS.flatMap(([share, make]) => Array(share).fill(make) as (typeof make)[])

export function bodyFrom(dice: Dice): ProbeBody {
  return dice.pick(KIND_OF_POINT)(dice)
}

function json(dice: Dice, what: string, bytes: Buffer, statuses: number[]): ProbeBody {
  return { what, headers: [['content-type', dice.pick(JSON_TYPES)]], bytes, statuses }
}

function unsupported(bytes: Buffer, headers: ProbeBody['headers']): ProbeBody {
  return { what: `a body with ${JSON.stringify(headers)}`, headers, bytes, statuses: [415] }
}

function valid(dice: Dice): Buffer {
  return sample(dice, validMessageRequest)
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
