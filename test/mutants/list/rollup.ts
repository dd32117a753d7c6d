import type { Mutant } from '../mutant.ts'

export const rollup: Mutant[] = [
  {
    name: 'one-id-on-two-dates',
    promise: 'Records are de-duplicated by `request_id` and UTC date: the same id on another date is another request.',
    file: 'pipeline/rollup/surplus.sql',
    find: 'PARTITION BY day_number, request_id',
    replace: 'PARTITION BY request_id',
    tests: ['test/spec/ranking/decisions.test.ts'],
  },
  {
    name: 'completion-before-prompt',
    promise: 'Of copies that disagree the greatest (timestamp, prompt, completion, …) stays.',
    file: 'pipeline/rollup/surplus.sql',
    find: 'instant_us DESC, prompt_tokens DESC, completion_tokens DESC',
    replace: 'instant_us DESC, completion_tokens DESC, prompt_tokens DESC',
    tests: ['test/spec/ranking/decisions.test.ts'],
  },
  {
    name: 'public-copy-wins',
    promise: 'Of copies of which one is private the private one stays.',
    file: 'pipeline/rollup/surplus.sql',
    find: "['public', 'withheld', 'private']",
    replace: "['private', 'withheld', 'public']",
    tests: ['test/spec/ranking/decisions.test.ts'],
  },
  {
    name: 'latest-update-ignored',
    promise: 'Of copies of a Helicone request the one that was updated last stays, before any other rule.',
    file: 'pipeline/rollup/surplus.sql',
    find: 'updated_us DESC NULLS LAST, instant_us DESC',
    replace: 'instant_us DESC',
    tests: ['test/raw/schemas/corpus.test.ts'],
  },
  {
    name: 'duplicates-not-told',
    promise: 'Duplicates are counted in quality.json.',
    file: 'pipeline/rollup/source.sql',
    find: "'duplicate', records, tokens, parts, 0, 0",
    replace: "'duplicate', 0, tokens, parts, 0, 0",
    tests: ['test/dataset/quality.test.ts'],
  },
  {
    name: 'registry-before-record',
    promise: "A record's own visibility wins over the source and the registry.",
    file: 'pipeline/rollup/result.sql',
    find: 'coalesce(core_dated_usage.visibility, core_models.visibility)',
    replace: 'coalesce(core_models.visibility, core_dated_usage.visibility)',
    tests: ['test/dataset/quality.test.ts'],
  },
  {
    name: 'missing-file-ignored',
    promise: 'A raw file that an earlier build read and that is missing fails the build by default.',
    file: 'pipeline/rollup/file-decisions.ts',
    find: `if (on_missing !== 'remove') checkNoDays(source, unarchived)
  if (on_missing === 'fail') throw`,
    replace: `if (on_missing !== 'remove') checkNoDays(source, unarchived)
  if (on_missing === undefined) throw`,
    tests: ['test/rollup/incremental/on-missing.test.ts'],
  },
  {
    name: 'archive-without-a-part',
    promise: 'An archive of which a part is missing stops the build.',
    file: 'pipeline/rollup/archive.ts',
    find: 'if (from !== expected) {',
    replace: 'if (from !== expected && expected === null) {',
    tests: ['test/rollup/close.test.ts'],
  },
  {
    name: 'byok-charged',
    promise: '`usage` leaves BYOK out: what a key used with and without it is kept apart.',
    file: 'pipeline/rollup/usage.ts',
    find: 'const name = `${api_key_hash} ${is_byok}`',
    replace: 'const name = api_key_hash',
    tests: ['test/rollup/usage.test.ts'],
  },
  {
    name: 'old-counts-of-every-reading',
    promise:
      'Archived dates and missing files keep their sums without a question if only the shared reading has a new number.',
    file: 'pipeline/rollup/reading.ts',
    find: String.raw`version.replace(/-\d+\.(?=\d+$)/, '-')`,
    replace: 'version',
    tests: ['test/rollup/reading.test.ts'],
  },
]
