import { describe, expect, it } from 'vitest'
import { createRegistry, type Model } from '../../pipeline/raw/registry.ts'

const models: Model[] = [
  { model_permaslug: 'acme/large-20260101', aliases: ['large', 'acme/large'], public: true },
  { model_permaslug: 'acme/secret', aliases: ['hush'], public: false },
  { model_permaslug: 'acme/large-20260101:beta', aliases: [], public: false },
  { model_permaslug: 'acme/cafe\u0301', aliases: ['one\u00a0'], public: true },
  { model_permaslug: 'acme/cafe\u0301 ', aliases: [], public: false },
]

describe('the registry resolves names', () => {
  const { resolve } = createRegistry(models, [{ alias: 'extra', model_permaslug: 'acme/large-20260101' }])

  it.each([
    ['a slug is itself', 'acme/large-20260101', 'acme/large-20260101'],
    ['an alias of models.json', 'large', 'acme/large-20260101'],
    ['an alias of the aliases file', 'extra', 'acme/large-20260101'],
    ['a variant takes the alias of its base and keeps its suffix', 'large:free', 'acme/large-20260101:free'],
    ['a variant of a slug is itself', 'acme/secret:free', 'acme/secret:free'],
    ['an unknown name is itself', 'other/model', 'other/model'],
    ['case is not folded', 'Large', 'Large'],
    ['spaces around a name do not count', '\u00a0large ', 'acme/large-20260101'],
    ['nor do invisible characters', '\ufeffacme/sec\u00adret\u200b', 'acme/secret'],
    ['nor the form of an accent', 'acme/caf\u00e9', 'acme/cafe\u0301'],
    ['nor those in the registry', 'one', 'acme/cafe\u0301'],
    ['nor those of the base of a variant', 'large :free', 'acme/large-20260101:free'],
    ['the very name wins', 'acme/cafe\u0301 ', 'acme/cafe\u0301 '],
    ['an unknown name loses them', ' lab/o\u200bne\u00a0', 'lab/one'],
    ['a name that is all suffix is itself', ':free', ':free'],
    ['a name whose suffix is empty is itself', 'large:', 'large:'],
  ])('resolves: %s', (_, name, slug) => expect(resolve(name)).toBe(slug))
})

describe('the registry knows visibility', () => {
  const { visibility } = createRegistry(models, [])

  it.each([
    ['a public model', 'acme/large-20260101', 'public'],
    ['a private model', 'acme/secret', 'private'],
    ['an unlisted variant has the visibility of its base', 'acme/secret:free', 'private'],
    ['a listed variant has its own', 'acme/large-20260101:beta', 'private'],
    ['an unknown model is withheld', 'acme/unknown', 'withheld'],
    ['a variant of an unknown model is withheld', 'acme/unknown:free', 'withheld'],
    ['a colon alone makes no variant', 'acme/large-20260101:', 'withheld'],
  ])('visibility: %s', (_, slug, expected) => expect(visibility(slug)).toBe(expected))
})

describe('the registry refuses', () => {
  const model = (model_permaslug: string, aliases: string[] = []): Model => ({ model_permaslug, aliases, public: true })

  it.each([
    ['a slug listed twice', [model('a'), model('a')], /"a" is listed twice/],
    ['an alias given twice', [model('a', ['x']), model('b', ['x'])], /alias "x" is given twice/],
    ['an alias that is another slug', [model('a', ['b']), model('b')], /alias "b" is also the slug/],
    ['the reserved slug', [model('other')], /reserved/],
    ['a slug that a spreadsheet would run', [model('=1+1')], /formula/],
    ['an empty slug', [model('')], /is empty/],
  ])('refuses %s', (_, listed, message) => expect(() => createRegistry(listed, [])).toThrow(message))

  it('refuses an alias of the aliases file that models.json has too', () => {
    const extra = [{ alias: 'x', model_permaslug: 'a' }]
    expect(() => createRegistry([model('a', ['x'])], extra)).toThrow(/"x" is given twice/)
  })

  it.each([
    ['after it', ['x', 'y', 'y', 'z']],
    ['before it', ['y', 'z', 'x', 'y']],
  ])('refuses an alias that another alias stands for, %s', (_, [a = '', b = '', c = '', d = '']) => {
    const aliases = [
      { alias: a, model_permaslug: b },
      { alias: c, model_permaslug: d },
    ]
    expect(() => createRegistry([], aliases)).toThrow(/alias "y" is also the slug/)
  })

  it('accepts an alias equal to its own slug', () => {
    expect(createRegistry([model('a', ['a'])], []).resolve('a')).toBe('a')
  })
})
