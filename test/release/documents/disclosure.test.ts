/** What the documents of a release say of disclosure control. */
import { describe, expect, it } from 'vitest'
import type { DisclosureStatement, RuleStatement } from '../../../pipeline/contract/disclosure.ts'
import { renderCroissant } from '../../../pipeline/release/documents/croissant.ts'
import { describeDataset } from '../../../pipeline/release/documents/describe.ts'
import { disclosureWords } from '../../../pipeline/release/documents/disclosure.ts'
import { renderDocuments } from '../../../pipeline/release/documents/documents.ts'
import { schemaOrgDataset } from '../../../pipeline/release/documents/schema-org.ts'
import { manifestOf } from '../../support/manifest.ts'

const RULED: RuleStatement = {
  rule: { min_contributors: 5, p_percent: 10, publish_after_days: 3, revise: 'never' },
  since: '2025-01-01',
  protects: ['customers'],
  exempt: [],
}

const wordsOf = (changes: Partial<RuleStatement> = {}) =>
  disclosureWords(manifestOf({ disclosure: { ...RULED, ...changes } }))

describe('the words', () => {
  it('say the rule, when dates are published, and what it means for a reader', () => {
    expect(wordsOf()).toEqual({
      protection:
        'A number is published only if at least 5 customers have tokens in it, and if the second largest of them cannot ' +
        'estimate the largest to within 10 %.',
      timing: 'A date is published 3 days after its end, and does not change from then on.',
      reading: expect.stringContaining('that is not zero'),
    })
    const rule = { ...RULED.rule, publish_after_days: 0 }
    expect(wordsOf({ rule })?.timing).toBe(
      'A date is published as soon as it has ended, and does not change from then on.',
    )
  })

  it.each([
    [{ since: '2025-03-01' }, /for all dates from 2025-03-01 on\. Earlier ones may have been published under another rule, or none: disc/],
    [{ since: null }, /The newest date, and perhaps earlier ones, were published under another rule, or none: disclosure\.json lists/],
    [{ protects: ['api_keys'] as const }, /at least 5 API keys have .* The logs name no customers: one with several/],
    [{ protects: ['customers', 'api_keys'] as const }, /at least 5 customers have .* an API key counts as one\.$/],
    [{ protects: ['end_users'] as const }, /at least 5 end users have .* name no customers: one with several end users/],
    [{ exempt: ['our own\ntests.', 'a demo'] }, /belongs to no customer and is not protected: our own tests; a demo\.$/],
  ])('say of %j what matches %s', (changes, sentence) => {
    const { protects = RULED.protects, ...others } = changes as Partial<RuleStatement>
    expect(wordsOf({ ...others, protects: [...protects] })?.protection).toMatch(sentence)
  }) // biome-ignore format: one line a sentence
})

describe('each document of a release', () => {
  const textsOf = (disclosure: DisclosureStatement | undefined) => {
    const dataset = describeDataset(manifestOf(disclosure === undefined ? {} : { disclosure }))
    const documents = renderDocuments(dataset).filter(({ path }) => !/^(citation|license)/i.test(path))
    return [...documents, { path: 'page', text: JSON.stringify(schemaOrgDataset(dataset, './')) }]
  }

  it('says the same of a rule, and does not call dates provisional', () => {
    for (const { path, text } of textsOf(RULED)) {
      expect(text, path).toContain('at least 5 customers have tokens in it')
      expect(text, path).toContain('A date is published 3 days after its end')
      expect(text, path).not.toMatch(/is provisional until|provisional from/)
      expect(text, path).not.toContain('at most as many as the last one named')
    }
  })

  it('says if there was no disclosure control', () => {
    for (const { path, text } of textsOf('none')) {
      expect(text, path).toContain('No disclosure control was applied')
      expect(text, path).toContain('is provisional until')
    }
  })

  it('does not mention it if the publisher says nothing of it', () => {
    for (const { path, text } of textsOf(undefined)) expect(text, path).not.toMatch(/disclosure/i)
  })

  it('answers the questions of Croissant on personal data, missing data and releases', () => {
    const { protection, timing, reading } = wordsOf() ?? {}
    const dataset = describeDataset(manifestOf({ disclosure: RULED }))
    expect(renderCroissant(dataset)).toMatchObject({
      'rai:personalSensitiveInformation': expect.stringContaining(protection ?? '?'),
      'rai:dataCollectionMissingData': expect.stringContaining(reading ?? '?'),
      'rai:dataReleaseMaintenancePlan': expect.stringContaining(timing ?? '?'),
    })
  })
})
