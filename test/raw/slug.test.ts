import { describe, expect, it } from 'vitest'
import { slugProblem } from '../../pipeline/raw/slug.ts'

describe('decision 6.6: which slugs may be published', () => {
  it.each([
    'a',
    'acme/Large-20260101:free',
    'null',
    'NaN',
    '007',
    "'; DROP TABLE x",
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
  ])('%j may not be published as a slug: %s', (slug, problem) => expect(slugProblem(slug)).toMatch(problem))
})
