import { describe, expect, it } from 'vitest'
import { slugProblem } from '../../pipeline/raw/slug.ts'

describe('counting 6: which slugs may be published', () => {
  it.each([
    'a',
    'acme/Large-20260101:free',
    'null',
    'NaN',
    '007',
    "' DROP TABLE x",
    'acme/-x',
    'workers/@cf/meta/llama',
    'Others',
    'acme/🦜\u200d🦜',
    '🦜/parrot',
    'a'.repeat(300),
    '🦜'.repeat(300),
    ' a',
    'a=b',
  ])('%j may be published as a slug', (slug) => expect(slugProblem(slug)).toBeUndefined())

  it.each([
    ['', /empty/],
    ['other', /reserved/],
    ['a'.repeat(301), /longer than 300/],
    ['🦜'.repeat(301), /longer than 300/],
    ['a\nb', /control/],
    ['a\u0000', /control/],
    ['a/\ud800', /half of a character/],
    ['\u0085', /control/],
    ['=1', /begins with =/],
    ['+1', /begins with \+/],
    ['-1', /begins with -/],
    ['@a', /begins with @/],
    ['\u200b ＠a', /begins with @/],
    ['acme/,=a', /after a separator/],
    ['acme/|+a', /after a separator/],
    ["acme/m' -a", /after a separator/],
    ["acme/;=cmd|' /C calc'!A0", /;/],
    ['acme/\u037ea', /;/],
    ['acme/a\tb', /control/],
    ['acme/\u202ea', /direction/],
    ['acme/\u2066a', /direction/],
    ['OTHER', /reserved/],
    ['ｏther ', /reserved/],
    ['\ufeff\u00a0', /empty/],
  ])('%j may not be published as a slug: %s', (slug, problem) => expect(slugProblem(slug)).toMatch(problem))
})
