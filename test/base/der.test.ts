import { expect, it } from 'vitest'
import { readDer, toDer } from '../../pipeline/base/der.ts'
import { BuildError } from '../../pipeline/base/errors.ts'

const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex')
const identifier = (content: string) =>
  readDer(toDer('SEQUENCE', toDer('OBJECT IDENTIFIER', hex(content))), 'SEQUENCE', (inside) => inside.identifier())

it.each([
  ['an element cut short', '30 05 04 02 61', 'SEQUENCE of 5 bytes is longer than what is left'],
  ['an element longer than the one around it', '30 03 04 02 61 62', 'OCTET STRING of 2 bytes is longer'],
  ['a tag without a length', '30', 'the length is missing'],
  ['a length of 4 GiB', '30 84 ff ff ff ff', 'SEQUENCE of 4294967295 bytes is longer'],
  ['a length of more than four bytes', '30 85 01 00 00 00 00', 'the length is missing, indefinite or too large'],
  ['a length cut short', '30 82 01', 'the length is missing, indefinite or too large'],
  ['an indefinite length', '30 80 04 00 00 00', 'the length is missing, indefinite or too large'],
  ['a short length in the long form', '30 81 02 04 00', 'the length is not in its shortest form'],
  ['a length with a leading zero', `30 82 00 80 ${'00'.repeat(128)}`, 'the length is not in its shortest form'],
  ['bytes after the end', '30 02 04 00 00', 'the DER is malformed at byte 4: expected the end'],
  ['an element too many', '30 04 04 00 04 00', 'the DER is malformed at byte 4: expected the end'],
  ['another tag', '30 02 05 00', 'the DER is malformed at byte 2: expected OCTET STRING'],
  ['nothing', '', 'the DER is malformed at byte 0: expected SEQUENCE'],
])('refuses %s', (_, bytes, message) => {
  const read = () => readDer(hex(bytes), 'SEQUENCE', (inside) => inside.content('OCTET STRING'))
  expect(read).toThrow(BuildError)
  expect(read).toThrow(message)
})

it.each([
  ['550403', '2.5.4.3'],
  ['2a864886f70d010702', '1.2.840.113549.1.7.2'],
  ['6983d6f2fee0e3f2c48d84f5fd9fb4c7a2b2e52a', undefined],
])('reads the object identifier %s', (content, expected) => {
  if (expected !== undefined) expect(identifier(content)).toBe(expected)
  else expect(identifier(content)).toMatch(/^2\.25\.\d{30,}$/)
})

it.each(['', '55 84', '55'.repeat(65)])('refuses the object identifier "%s"', (content) => {
  expect(() => identifier(content)).toThrow('the OBJECT IDENTIFIER is too long or cut short')
})
