import type { Mutant } from '../mutant.ts'

export const release: Mutant[] = [
  {
    name: 'gzip-names-the-system',
    promise: 'Equal inputs give equal bytes: a gzip header does not name the operating system.',
    file: 'pipeline/base/text.ts',
    find: '  compressed.writeUInt8(GZIP_SYSTEM_UNKNOWN, GZIP_SYSTEM_OFFSET)\n',
    replace: '',
    tests: ['test/release/formats.test.ts'],
  },
  {
    name: 'inputs-in-order-of-names',
    promise: 'The Merkle root of the inputs is of their sorted hashes, so that it tells no name.',
    file: 'pipeline/release/merkle.ts',
    find: 'hashes.toSorted()',
    replace: '[...hashes]',
    tests: ['test/release/provenance.test.ts'],
  },
  {
    name: 'sums-hashed-without-key',
    promise:
      'An input that is sums has an HMAC in provenance.json: whoever knows the public sums cannot guess the private ones.',
    file: 'pipeline/release/input-names.ts',
    find: "createHmac('sha256', key).update(sha256).digest('hex')",
    replace: "createHmac('sha256', '').update(sha256).digest('hex')",
    tests: ['test/rollup/rollup-files.test.ts'],
  },
  {
    name: 'manifest-sha-not-chained',
    promise: 'Each entry of releases/index.json carries the hash of the one before it.',
    file: 'pipeline/release/index.ts',
    find: 'if (facts.previous !== previous || entryHash(facts) !== hash) {',
    replace: 'if (entryHash(facts) !== hash) {',
    tests: ['test/publication/verify.test.ts'],
  },
  {
    name: 'entry-of-another-manifest',
    promise: 'verify finds a release whose manifest is not the one that the index lists.',
    file: 'pipeline/release/verify.ts',
    find: 'if (isEntryOf(entry, manifest, manifestSha256)) return',
    replace: 'if (isEntryOf(entry, manifest, entry.manifest_sha256)) return',
    tests: ['test/publication/verify.test.ts'],
  },
  {
    name: 'format-not-read-back',
    promise: 'Every format is read back before it is published, and holds the rows of content_hash.',
    file: 'pipeline/release/verify.ts',
    find: 'if (rows.length !== manifest.rows || hash !== manifest.content_hash) {',
    replace: 'if (rows.length !== manifest.rows) {',
    tests: ['test/publication/verify.test.ts'],
  },
  {
    name: 'parquet-as-double',
    promise: 'The columns of the Parquet file are DATE, VARCHAR and BIGINT.',
    file: 'pipeline/release/data-files.sql',
    find: 'total_tokens::BIGINT',
    replace: 'total_tokens::DOUBLE',
    tests: ['test/release/formats.test.ts'],
  },
  {
    name: 'withdrawn-release-current',
    promise: 'The newest release that was not withdrawn is current.',
    file: 'pipeline/release/index.ts',
    find: "return index.releases.findLast(({ status }) => status !== 'withdrawn')",
    replace: 'return index.releases.at(-1)',
    tests: ['test/publication/withdraw.test.ts'],
  },
]
