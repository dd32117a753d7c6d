import type { Mutant } from '../mutant.ts'

export const base: Mutant[] = [
  {
    name: 'folder-not-synced-after-rename',
    promise: 'A rename waits until the move is on disk.',
    file: 'pipeline/base/files.ts',
    find: `    await rename(from, to)
    await flush(dirname(to))`,
    replace: '    await rename(from, to)',
    tests: ['test/base/files.test.ts'],
  },
  {
    name: 'written-bytes-not-flushed',
    promise: 'Writing a file waits until its bytes are on disk.',
    file: 'pipeline/base/files.ts',
    find: 'await writeFile(path, content, { flush: true })',
    replace: 'await writeFile(path, content)',
    tests: ['test/base/files.test.ts'],
  },
  {
    name: 'streamed-bytes-not-flushed',
    promise: 'Writing a file from a stream waits until its bytes are on disk.',
    file: 'pipeline/base/files.ts',
    find: 'createWriteStream(path, { flush: true })',
    replace: 'createWriteStream(path)',
    tests: ['test/base/files.test.ts'],
  },
  {
    name: 'changed-byte-unseen',
    promise: 'A folder with checksums is verified by reading every byte of it.',
    file: 'pipeline/base/checksums.ts',
    find: 'if (expected !== sha256) fail(',
    replace: 'if (expected === undefined) fail(',
    tests: ['test/base/checksums.test.ts'],
  },
  {
    name: 'stray-file-unseen',
    promise: 'A folder with checksums holds the listed files and nothing else.',
    file: 'pipeline/base/checksums.ts',
    find: 'if (expected === undefined) fail(path,',
    replace: "if (expected === undefined) continue\n    if (expected === '') fail(path,",
    tests: ['test/base/checksums.test.ts'],
  },
  {
    name: 'second-build-not-locked-out',
    promise: 'Of two builds at once the second says so and fails.',
    file: 'pipeline/rollup/workspace.ts',
    find: "return lock(join(publicDir, '.lock'))",
    replace: 'return lock(join(publicDir, `.lock-${process.pid}`))',
    tests: ['test/publication/export.test.ts'],
  },
]
