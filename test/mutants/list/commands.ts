import type { Mutant } from '../mutant.ts'

const RECORD = 'pipeline/operation/record-build.ts'

export const commands: Mutant[] = [
  {
    name: 'stale-is-fresh',
    promise: '`make status` exits with 1 when the release is stale.',
    file: 'pipeline/operation/read-status.ts',
    find: 'at.getTime() >= Date.parse(published.stale_after)',
    replace: 'at.getTime() < Date.parse(published.stale_after)',
    tests: ['test/operation/status.test.ts'],
  },
  {
    name: 'status-looks-into-a-state-in-use',
    promise: 'The state is not copied while a command writes it.',
    file: 'pipeline/operation/read-status.ts',
    find: '  if (running !== null && running.length > 0) return undefined\n',
    replace: '',
    tests: ['test/operation/status.test.ts'],
  },
  {
    name: 'refused-build-is-an-outcome',
    promise: 'A build that did not get the lock leaves the outcome of the one before.',
    file: RECORD,
    find: 'if (!(error instanceof HeldError)) {',
    replace: 'if (!(error instanceof TypeError)) {',
    tests: ['test/operation/build-outcome.test.ts'],
  },
  {
    name: 'outcome-for-everybody',
    promise: 'What became of a build is private, because it names sources.',
    file: RECORD,
    find: ', { isPrivate: true }',
    replace: '',
    tests: ['test/operation/build-outcome.test.ts'],
  },
  {
    name: 'last-success-forgotten',
    promise: 'A build that fails does not forget when one last ended well.',
    file: 'pipeline/operation/build-outcome.ts',
    find: 'previous?.last_success ?? null',
    replace: 'null',
    tests: ['test/operation/build-outcome.test.ts'],
  },
]
