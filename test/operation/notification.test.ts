/** What NOTIFY_URL is told of a build, and what it is not. */
import { mkdir } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { readPipelineConfig } from '../../pipeline/base/config.ts'
import { notify } from '../../pipeline/commands/notify.ts'
import type { BuildOutcome } from '../../pipeline/operation/build-outcome.ts'
import { notificationOf } from '../../pipeline/operation/notification.ts'
import { temporaryFolder } from '../support/folder.ts'
import { PUBLISHED, writeCatalog } from '../support/status.ts'
import { answers, startWebhook } from '../support/webhook.ts'

const PRIVATE = 'secret-source'
const WARNING = { check: 'silent_source', finding: `source "${PRIVATE}" delivered no record: ${PRIVATE}` }

/** An outcome in which everything that can be private is. */
function outcomeOf(facts: Partial<BuildOutcome> = {}): BuildOutcome {
  return {
    outcome: 'released',
    started: '2025-03-10T12:00:00.000Z',
    ended: '2025-03-10T12:00:02.500Z',
    exit_code: 0,
    error: null,
    stages: [{ stage: PRIVATE, seconds: 987654 }],
    counts: {
      records: { read: 987654 },
      rejected_share: 0.987654,
      withheld_share: 0.987654,
      newest: [{ source: PRIVATE, date: '2025-03-08' }],
    },
    release: '20250310T120000Z',
    warnings: [],
    checks: [],
    last_success: null,
    ...facts,
  }
}

const WARNED = outcomeOf({ outcome: 'unchanged', warnings: [WARNING], checks: ['silent_source'] })
const FAILED = outcomeOf({ outcome: 'failed', exit_code: 2, error: `${PRIVATE}/a.csv is cut off`, release: null })
const BLOCKED = outcomeOf({ outcome: 'blocked', exit_code: 1, error: PRIVATE, release: null, checks: ['missing_date'] })

const tell = (outcome: BuildOutcome, previous?: BuildOutcome, published = PUBLISHED) =>
  notificationOf({ outcome, previous }, published)

describe('a notification', () => {
  it('has the public facts of the release, and a text for people', () => {
    expect(tell(outcomeOf())).toEqual({
      event: 'released',
      text: 'Example: release 20250310T120000Z, 2025-03-01 to 2025-03-09, 42 rows, version 1.2.3.',
      publisher: 'Example',
      release: '20250310T120000Z',
      as_of: '2025-03-10T12:00:00Z',
      end_date: '2025-03-09',
      data_version: '1.2.3',
      rows: 42,
      stale_after: '2025-03-12T01:00:00Z',
      synthetic: false,
      checks: [],
      exit_code: 0,
    })
  })

  it.each([
    [
      { ...WARNED, outcome: 'released' },
      'released',
      'Example: release 20250310T120000Z, 2025-03-01 to 2025-03-09, 42 rows, version 1.2.3. Checks warn: silent_source.',
    ],
    [
      WARNED,
      'warned',
      'Example: nothing changed, but checks warn: silent_source. Release 20250310T120000Z stays current.',
    ],
    [
      BLOCKED,
      'blocked',
      'Example: the next release is blocked by a check: missing_date. Release 20250310T120000Z stays current.',
    ],
    [
      FAILED,
      'failed',
      'Example: the build failed with exit code 2. Release 20250310T120000Z stays current. On its machine, tokenboard status says why.',
    ],
  ] as const)('says what happened, and nothing private: %#', (outcome, event, text) => {
    const notification = tell(outcome)

    expect(notification).toMatchObject({ event, text, release: '20250310T120000Z' })
    expect(JSON.stringify(notification)).not.toMatch(/secret|987654|a\.csv/)
  })

  it('says when nothing is published yet', () => {
    expect(notificationOf({ outcome: FAILED, previous: undefined }, undefined)).toMatchObject({
      text: 'Tokenboard: the build failed with exit code 2. Nothing is published yet. On its machine, tokenboard status says why.',
      release: null,
      synthetic: null,
    })
  })

  it('says that a release is of the sample', () => {
    const sample = { ...PUBLISHED, synthetic: true, data_version: null }

    expect(tell(outcomeOf(), undefined, sample)?.text).toBe(
      'Example: release 20250310T120000Z of SYNTHETIC sample data, 2025-03-01 to 2025-03-09, 42 rows.',
    )
  })

  it('is not sent if nothing changed, or if somebody stopped the build', () => {
    expect(tell(outcomeOf({ outcome: 'unchanged' }))).toBeUndefined()
    expect(tell(outcomeOf({ outcome: 'interrupted', error: 'stopped' }))).toBeUndefined()
  })

  it('is not sent again for the warnings of the build before', () => {
    expect(tell(WARNED, WARNED)).toBeUndefined()
    expect(tell(WARNED, { ...WARNED, warnings: [{ ...WARNING, date: '2025-03-08' }] })?.event).toBe('warned')
    expect(tell(WARNED, FAILED)?.event).toBe('warned')
  })

  it('is sent for each build that fails', () => {
    expect(tell(FAILED, FAILED)?.event).toBe('failed')
    expect(tell(BLOCKED, BLOCKED)?.event).toBe('blocked')
  })
})

describe('NOTIFY_URL', () => {
  async function told(NOTIFY_URL: string, outcome = outcomeOf()) {
    const root = await temporaryFolder()
    const config = readPipelineConfig({ PUBLIC_DIR: `${root}/public`, NOTIFY_URL })
    await mkdir(config.publicDir)
    await writeCatalog(config.publicDir)
    const warnings: string[] = []
    await notify(config, { outcome, previous: undefined }, (text) => warnings.push(text), { pause: async () => {} })
    return warnings
  }

  it('gets the notification', async () => {
    const { host, received } = await startWebhook()
    expect(await told(`http://${host}/topic`)).toEqual([])

    expect(received.map(({ body }) => JSON.parse(body))).toEqual([tell(outcomeOf())])
  })

  it('gets nothing if there is nothing to tell', async () => {
    const { host, received } = await startWebhook()
    await told(`http://${host}/topic`, outcomeOf({ outcome: 'unchanged' }))

    expect(received).toEqual([])
  })

  it('is a warning without what is secret in the address when it fails', async () => {
    const { host } = await startWebhook(answers(403))

    expect(await told(`http://ada:secret@${host}/secret?secret`)).toEqual([
      `warning: NOTIFY_URL was not told about this build: ${host} answered 403\n`,
    ])
  })

  it.each(['hooks.example.org/secret', 'ftp://ada:secret@hooks.example.org'])(
    'is not %s, which is not shown',
    (url) => {
      expect(() => readPipelineConfig({ NOTIFY_URL: url })).toThrow(
        /^NOTIFY_URL must be an http\(s\) URL, (?!.*secret@|.*\/secret)/,
      )
    },
  )
})
