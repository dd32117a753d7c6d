import type { Mutant } from '../mutant.ts'

export const site: Mutant[] = [
  {
    name: 'quotes-in-attributes',
    promise: 'Names are data everywhere: they add no tag and no quote to any page.',
    file: 'pipeline/contract/html.ts',
    find: `text.replaceAll(/[&<>"']/g,`,
    replace: `text.replaceAll(/[&<>']/g,`,
    tests: ['test/site/hostile-names.test.ts'],
  },
  {
    name: 'control-characters-in-feeds',
    promise: 'Feeds are well-formed XML, whatever the texts hold.',
    file: 'pipeline/contract/html.ts',
    find: 'return escapeHtml(withoutControls(text))',
    replace: 'return escapeHtml(text)',
    tests: ['test/publication/catalog.test.ts'],
  },
  {
    name: 'feed-ids-of-copies',
    promise: 'The id of a feed entry never changes, wherever the files are served, and each entry has its own.',
    file: 'pipeline/site/feeds.ts',
    find: "category === 'release' ? release : `${release}/${category}`",
    replace: 'release',
    tests: ['test/cases.test.ts'],
  },
  {
    name: 'feeds-oldest-first',
    promise: 'Feeds tell of releases and restatements newest first.',
    file: 'pipeline/site/feeds.ts',
    find: 'a.date < b.date ? 1 : a.date > b.date ? -1 : 0',
    replace: 'a.date < b.date ? -1 : a.date > b.date ? 1 : 0',
    tests: ['test/publication/catalog.test.ts'],
  },
  {
    name: 'two-models-one-page',
    promise: 'Every slug has a page of its own on any file system, also where case does not matter.',
    file: 'pipeline/site/model-path.ts',
    find: 'const PLAIN = /[a-z0-9._-]/',
    replace: 'const PLAIN = /[A-Za-z0-9._-]/',
    tests: ['test/site/model-path.test.ts'],
  },
]
