import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { modelPath } from '../../pipeline/site/model-path.ts'
import { tries } from '../support/property.ts'

const { options } = tries({ share: 40 })

/** Parts that are difficult in paths: folders, dots, case, devices, other scripts, long texts. */
const part = fc.oneof(
  fc.constantFrom(...'/ . .html con NUL com1 a A = =2e =h :free % \\ é e\u0301'.split(' '), ' '),
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.constantFrom('x', '😀', 'Ω').map((character) => character.repeat(90)),
)
const slug = fc
  .array(part, { minLength: 1, maxLength: 6 })
  .map((parts) => parts.join(''))
  .filter((text) => text !== '')

/** Reads a path back, where nothing was cut. */
function decode(path: string): string {
  const body = path.slice('models/'.length, -'.html'.length)
  const bytes = body.replaceAll(/=([0-9a-f]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString('utf8')
}

describe('modelPath', () => {
  it.each([
    ['openai/gpt-4o', 'models/openai/gpt-4o.html'],
    ['openai/gpt-4o:free', 'models/openai/gpt-4o=3afree.html'],
    ['perplexity/pplx-embed-v1-0.6B', 'models/perplexity/pplx-embed-v1-0.6=42.html'],
    ['../../etc/passwd', 'models/=2e=2e/=2e=2e/etc/passwd.html'],
    ['/a//b/', 'models/=2fa=2f=2fb=2f.html'],
    ['a/.b', 'models/a/=2eb.html'],
    ['a.html', 'models/a.html.html'],
    ['a.html/b', 'models/a=2ehtml/b.html'],
    ['con', 'models/=63on.html'],
    ['aux.v1/nul', 'models/=61ux.v1/=6eul.html'],
    ['console', 'models/console.html'],
    ['end. ', 'models/end.=20.html'],
    ['end./x', 'models/end=2e/x.html'],
    ["'; DROP TABLE", 'models/=27=3b=20=44=52=4f=50=20=54=41=42=4c=45.html'],
    ['é', 'models/=c3=a9.html'],
  ])('gives %s the path %s', (given, path) => expect(modelPath(given)).toBe(path))

  it('cuts long slugs and adds a hash, so that two with the same beginning differ', () => {
    const [one, other] = [`acme/${'x'.repeat(290)}`, `acme/${'x'.repeat(289)}y`].map(modelPath)
    expect(one).toMatch(/^models\/acme\/x+=h[0-9a-f]{16}\.html$/)
    expect(one).toHaveLength('models/.html'.length + 200)
    expect(one).not.toBe(other)
  })

  it('gives paths that every file system and every URL accepts unchanged, and that decode to the slug unless it was cut', () => {
    fc.assert(
      fc.property(slug, (given) => {
        const path = modelPath(given)
        expect(path).toMatch(/^models\/([a-z0-9=_-][a-z0-9._=-]*\/)*[a-z0-9=_-][a-z0-9._=-]*\.html$/)
        expect(new URL(path, 'https://example.org/').pathname).toBe(`/${path}`)
        for (const segment of path.split('/').slice(1)) {
          expect(segment.length).toBeLessThanOrEqual(205)
          expect(segment).not.toMatch(/\.$|^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/)
        }
        if (!/=h[0-9a-f]{16}\.html$/.test(path)) expect(decode(path)).toBe(given)
      }),
      options,
    )
  })

  it('gives slugs different paths, and no file the path of a folder, also where case is ignored', () => {
    fc.assert(
      fc.property(fc.uniqueArray(slug, { minLength: 2, maxLength: 12 }), (slugs) => {
        const cases = slugs.flatMap((each) => [each, each.toUpperCase(), each.toLowerCase(), `${each}.html/a`])
        const all = new Set(cases)
        const files = new Set([...all].map((each) => modelPath(each).toLowerCase()))
        expect(files.size).toBe(all.size)
        const folders = [...files].flatMap((path) => [...path.matchAll(/\//g)].map(({ index }) => path.slice(0, index)))
        for (const folder of folders) expect(files).not.toContain(folder)
      }),
      options,
    )
  })
})
