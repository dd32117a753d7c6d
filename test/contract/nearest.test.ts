import { expect, it } from 'vitest'
import { nearest } from '../../pipeline/contract/nearest.ts'

const known = ['visibility', 'columns', 'files', 'timezone']

it.each([
  ['visiblity', 'visibility'],
  ['colums', 'columns'],
  ['Files', 'files'],
  ['time_zone', 'timezone'],
])('nearest finds for %s the key %s', (word, expected) => expect(nearest(word, known)).toBe(expected))

it('nearest finds nothing for an unrelated word', () => expect(nearest('xyzzyplugh', known)).toBeUndefined())
it('nearest finds nothing without known keys', () => expect(nearest('files', [])).toBeUndefined())
