import type { Mutant } from '../mutant.ts'

export const setup: Mutant[] = [
  {
    name: 'overwrites-without-force',
    promise: '`init` overwrites no file without `--force`.',
    file: 'pipeline/commands/init.ts',
    find: 'if (!options.force) await checkFree(config)',
    replace: 'await Promise.resolve()',
    tests: ['test/commands/init.test.ts'],
  },
  {
    name: 'half-a-configuration',
    promise: '`init` writes all files or none.',
    file: 'pipeline/setup/configuration.ts',
    find: 'for (const [path, bytes] of previous) await',
    replace: 'for (const [path, bytes] of [...previous].slice(1)) await',
    tests: ['test/commands/init.test.ts'],
  },
  {
    name: 'fine-tuned-models-are-public',
    promise: 'Models whose names look like a customer’s own are left out unless you name them.',
    file: 'pipeline/setup/choose-public.ts',
    find: "(word === 'all' ? why === undefined : matches(word, model))",
    replace: "word === 'all' || matches(word, model)",
    tests: ['test/setup/choose-public.test.ts'],
  },
  {
    name: 'pattern-matches-files-of-others',
    promise: 'A pattern is named only where it matches the files of one source and no others.',
    file: 'pipeline/setup/file-patterns.ts',
    find: ' && !others.some((name) => matchesGlob(name, pattern))',
    replace: '',
    tests: ['test/setup/file-patterns.test.ts'],
  },
  {
    name: 'one-broken-file-stops-the-rest',
    promise: 'A file that cannot be read does not stop the others of its source.',
    file: 'pipeline/setup/log-reading.ts',
    find: 'const all = broken.size > 0 ? [...broken] :',
    replace: 'const all =',
    tests: ['test/commands/init.test.ts'],
  },
]
