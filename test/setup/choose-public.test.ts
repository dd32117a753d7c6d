/** Which models the words of a maintainer make public. */
import { expect, it } from 'vitest'
import { choosePublic } from '../../pipeline/setup/choose-public.ts'

it.each<[string[], string[], string[]]>([
  [['all'], [], ['acme/a', 'acme/b']],
  [['*'], [], ['acme/a', 'acme/b', 'secret']],
  [['none'], [], []],
  [['all', 'secret'], ['acme/b'], ['acme/a', 'secret']],
  [['acme/*'], ['all'], []],
])('--public %j --private %j publishes %j', (open, closed, expected) => {
  const models = [
    { model: 'acme/a', why: undefined },
    { model: 'acme/b', why: undefined },
    { model: 'secret', why: 'looks so' },
  ]
  expect([...choosePublic(models, { open, closed })]).toEqual(expected)
  expect(() => choosePublic(models, { open: ['acme/c'], closed })).toThrow('"acme/c"')
})
