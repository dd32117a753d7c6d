import type { Mutant } from '../mutant.ts'

const TESTS = ['test/deposit/deposit.test.ts']

export const deposit: Mutant[] = [
  {
    name: 'second-draft-after-a-lost-answer',
    promise: 'No second record is made, even if the answer to the first request was lost.',
    file: 'pipeline/deposit/steps.ts',
    find: 'if (record !== undefined || concept_id === null) return record ?? ofRelease[0]',
    replace: 'if (record !== undefined || concept_id === null) return record',
    tests: TESTS,
  },
  {
    name: 'second-version-after-a-lost-answer',
    promise: 'No second version is made, even if the answer to the first request was lost.',
    file: 'pipeline/deposit/steps.ts',
    find: '!is_published && parent.id === concept_id',
    replace: 'is_published && parent.id !== concept_id',
    tests: TESTS,
  },
  {
    name: 'doi-given-up',
    promise: 'A reserved DOI stays that of the draft when its metadata are sent again.',
    file: 'pipeline/deposit/repository.ts',
    find: 'json: { ...body, pids }',
    replace: 'json: { ...body, pids: pids.doi === undefined ? pids : {} }',
    tests: TESTS,
  },
  {
    name: 'token-in-an-error',
    promise: 'No message has the token, also if the repository repeats it.',
    file: 'pipeline/deposit/repository.ts',
    find: ".replaceAll(this.#token, '…')",
    replace: ".replaceAll(`${this.#token}\\n`, '…')",
    tests: TESTS,
  },
  {
    name: 'stored-otherwise',
    promise: 'A file that the repository stored with another checksum is sent again.',
    file: 'pipeline/deposit/steps.ts',
    find: ' && stored.checksum === `md5:${md5}` && stored.size === bytes',
    replace: ' && stored.checksum !== `md5:${bytes}`',
    tests: TESTS,
  },
  {
    name: 'trial-in-deposits',
    promise: 'What is deposited at a sandbox is noted in a file of its own, which builds do not read.',
    file: 'pipeline/deposit/state.ts',
    find: 'const name = isTrial(repository) ? TRIAL_FILE : DEPOSITS_FILE',
    replace: "const name = isTrial(repository) && repository === '' ? TRIAL_FILE : DEPOSITS_FILE",
    tests: TESTS,
  },
  {
    name: 'pages-without-new-dois',
    promise: 'A build that finds nothing new publishes the DOIs of new deposits.',
    file: 'pipeline/publication/pages.ts',
    find: 'JSON.stringify([hashOfCode(), index, dois, ...documents])',
    replace: 'JSON.stringify([hashOfCode(), index, dois === null, ...documents])',
    tests: ['test/publication/dois.test.ts'],
  },
]
