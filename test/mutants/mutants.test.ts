import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { MUTANTS, mutate, readMutated } from './mutant.ts'

const ROOT = join(import.meta.dirname, '../..')

it('lists at least 45 mutants, each with a name of its own', () => {
  expect(MUTANTS.length).toBeGreaterThanOrEqual(45)
  expect(new Set(MUTANTS.map(({ name }) => name)).size).toBe(MUTANTS.length)
})

it.each(MUTANTS)('mutant $name changes one place of its file and names tests that exist', (mutant) => {
  const { original, mutated } = readMutated(ROOT, mutant)
  expect(mutated).not.toBe(original)
  expect(mutant.tests.length).toBeGreaterThan(0)
  expect(mutant.tests.filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
})

it('refuses a mutant whose text is missing or ambiguous', () => {
  const mutant = { name: 'name', promise: '', file: 'a.ts', find: 'one', replace: 'two', tests: [] }
  expect(mutate('one', mutant)).toBe('two')
  expect(() => mutate('none', { ...mutant, find: 'three' })).toThrow('mutant name: a.ts does not contain "three"')
  expect(() => mutate('one one', mutant)).toThrow('mutant name: a.ts contains "one" more than once')
})
