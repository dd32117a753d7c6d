import type { Mutant } from '../mutant.ts'

const RECORD = 'pipeline/operation/record-build.ts'
const NOTIFICATION = 'pipeline/operation/notification.ts'

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
    find: 'if (!(error instanceof HeldError)) await keep(',
    replace: 'await keep(',
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
  {
    name: 'notification-with-a-source-name',
    promise: 'A notification has no names of sources, files or private models.',
    file: NOTIFICATION,
    find: 'return { event, text, ...factsOf(published), checks, exit_code }',
    replace: 'return { event, text, ...factsOf(published), checks, exit_code, ...{ warnings: outcome.warnings } }',
    tests: ['test/operation/notification.test.ts'],
  },
  {
    name: 'notification-with-an-error-text',
    promise: 'A notification has no error texts, which can name files.',
    file: NOTIFICATION,
    find: 'return { event, text, ...factsOf(published), checks, exit_code }',
    replace: 'return { event, text: text + outcome.error, ...factsOf(published), checks, exit_code }',
    tests: ['test/operation/notification.test.ts'],
  },
  {
    name: 'warned-every-day',
    promise: 'A build that changed nothing does not tell the warnings of the build before again.',
    file: NOTIFICATION,
    find: 'outcome.warnings.length > 0 && isNew',
    replace: 'outcome.warnings.length > 0',
    tests: ['test/operation/notification.test.ts'],
  },
]
