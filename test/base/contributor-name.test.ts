/** One spelling of a contributor: in TypeScript, in SQL, and from every notation. */
import fc from 'fast-check'
import { expect, it, onTestFinished } from 'vitest'
import { contributorName, NO_CONTRIBUTOR } from '../../pipeline/base/contributor-name.ts'
import { Database } from '../../pipeline/base/database.ts'
import { temporaryFolder } from '../support/folder.ts'
import { tries } from '../support/property.ts'

it.each([
  ['7', ['7', '7.0', '007', '7.', '+7', '7e0', '70e-1', '.7e1', ' 7 ', '"7"', "'7'", '“7”', '７', '7\u200b', '٧']],
  ['-7', ['-7', '-7.00', '-007']],
  ['0', ['0', '-0', '0.0', '000', '0e99999999999999999999']],
  ['10000000', ['1e7', '1E+7', '10000000', '10000000.0']],
  ['9'.repeat(38), ['9'.repeat(38), `${'0'.repeat(50)}${'9'.repeat(38)}.${'0'.repeat(50)}`]],
  ['acme corp', ['ACME\tCorp', 'acme\u2800corp', ' Acme\u00a0\tcorp ', 'ac\u200bme\u00ad corp', '"ＡＣＭＥ corp"']],
  ['strasse & \u03c3', ['STRASSE & Σ', 'straße & ς']],
  ['\u00e9mile', ['\u00c9mile', 'e\u0301mile', 'E\u0301MILE']],
])('writes %j in one way', (name, spellings) => {
  expect(spellings.map(contributorName)).toEqual(spellings.map(() => name))
})

it.each(['0x10', '7.5', '1e-1', '1e38', '1,000', '1_000', '9'.repeat(39), 'e7', 'infinity', '1e999999999999'])(
  'leaves %j as text',
  (text) => {
    expect(contributorName(text)).toBe(text)
  },
)

it.each(['', '  ', '\u200b', '""', "' '", '{"id":7}', '[7]', '\u3164'])('takes %j for nobody', (text) => {
  expect(contributorName(text)).toBeNull()
})

it('knows words for nobody in every spelling', () => {
  const words = ['None', 'NULL', ' n/a', '"NaN"', '-', '—', '?', 'Unknown', 'EMPTY', '<NA>', '\\N', '(blank)', '-inf']
  expect(words.filter((word) => !NO_CONTRIBUTOR.includes(contributorName(word) ?? ''))).toEqual([])
  expect(NO_CONTRIBUTOR.map(contributorName)).toEqual(NO_CONTRIBUTOR)
})

it('takes linear time, also for texts that only an attacker writes', () => {
  const long = 200_000
  const texts = ['0', ' "', '1.0', '[', 'e', '-', '\u0660'].map((part) => `1${part.repeat(long)}x${part.repeat(long)}`)
  expect(texts.map(contributorName).every((name) => name !== null)).toBe(true)
})

const { options, timeout_ms } = tries({ share: 10 })

it('spells in SQL as in TypeScript, and a spelling as itself', { timeout: timeout_ms }, async () => {
  const database = await Database.open({
    path: ':memory:',
    temporaryFolder: await temporaryFolder(),
    memoryLimit: undefined,
    signal: new AbortController().signal,
  })
  onTestFinished(() => database.close())
  const digits = fc.stringMatching(/^[+-]?\d{0,3}\.?\d{0,3}(e[+-]?\d{1,2})?$/)
  const word = fc.stringMatching(/^[ -~]{0,12}$/)
  const text = fc.oneof(digits, word, fc.string({ unit: 'binary' }), fc.constantFrom('ß', 'Σ', 'ﬁ', 'Ⅷ', 'ｶﾞ', 'a  b'))
  await fc.assert(
    fc.asyncProperty(fc.array(text, { minLength: 1, maxLength: 200 }), async (texts) => {
      const written = texts.map((each) => each.toWellFormed())
      const names = written.map((each) => contributorName(each) ?? '')
      expect(names.map((name) => contributorName(name) ?? '')).toEqual(names)
      const compared = "if(coalesce(contributor_name(text), '') = name, 1, error('another name: ' || text))"
      const rows = '(SELECT unnest($texts::VARCHAR[]) AS text, unnest($names::VARCHAR[]) AS name)'
      await database.execute(`SELECT sum(${compared}) FROM ${rows}`, { texts: written, names })
    }),
    options,
  )
})
