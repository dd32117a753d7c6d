import { expect, it } from 'vitest'
import { nearest } from '../../pipeline/contract/nearest.ts'

const known = ['visibility', 'columns', 'files', 'timezone']

it.each([
  ['visiblity', 'visibility'],
  ['colums', 'columns'],
  ['Files', 'files'],
  ['time_zone', 'timezone'],
])('%s is near %s', (word, expected) => expect(nearest(word, known)).toBe(expected))

it('nothing is near a word of another kind', () => expect(nearest('xyzzyplugh', known)).toBeUndefined())
it('nothing is near where nothing is known', () => expect(nearest('files', [])).toBeUndefined())
