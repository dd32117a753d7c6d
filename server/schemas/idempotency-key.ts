import { z } from 'zod'

const MOST_CHARACTERS = 255

const PRINTABLE = /^[ -~]+$/

/** A string of structured fields (RFC 9651 § 3.3.3). */
const QUOTED = /^"((?:[ !#-[\]-~]|\\["\\])*)"$/

/** The header `Idempotency-Key`: text as it is, or the quoted form of the IETF draft, which has the same text. */
export const IdempotencyKey = z
  .string()
  .refine((value) => isSound(textOfKey(value)), {
    error: `must have 1 to ${MOST_CHARACTERS} printable ASCII characters`,
  })
  .meta({
    description: `Makes it safe to send the request again: for 24 hours, the same key with the same body gets the same answer and makes no other version. At most ${MOST_CHARACTERS} characters.`,
    examples: ['8e03978e-40d5-43e8-bc93-6894a57f9324'],
    minLength: 1,
    pattern: PRINTABLE.source,
  })

export function textOfKey(value: string): string {
  const text = QUOTED.exec(value)?.[1]
  return text === undefined ? value : text.replaceAll(/\\(.)/g, '$1')
}

function isSound(text: string): boolean {
  return text.length <= MOST_CHARACTERS && PRINTABLE.test(text)
}
