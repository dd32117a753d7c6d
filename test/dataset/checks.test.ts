/** The rules that always stop a build, and the names of checks. Cases tell of findings: sanity-checks, blocking-checks. */
import { existsSync } from 'node:fs'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { Database } from '../../pipeline/base/database.ts'
import { BuildError } from '../../pipeline/base/errors.ts'
import { assertInvariants } from '../../pipeline/dataset/checks.ts'
import { freeze } from '../../pipeline/dataset/frozen.ts'
import { memoryDatabase } from '../support/database.ts'
import { buildIn, datasetFolder, newWorkspace, writeSmallBuild } from '../support/pipeline.ts'

const ONE_DAY = [{ records: [{ model_permaslug: 'acme/one', prompt_tokens: '1' }] }]

it.each([
  ['a misspelled name', 'colapsed_day', 'did you mean "collapsed_day"?'],
  ['an unknown name', 'x', 'collapsed_day, new_leader, missing_date, silent_source'],
  ['the name of a rule that always stops', 'lost_tokens', 'lost_tokens always stops a build'],
])('--accept and "blocking" with %s are a wrong command line', async (_, name, message) => {
  const workspace = await newWorkspace()
  await writeSmallBuild(workspace, { sources: ONE_DAY })
  const accepting = buildIn(workspace, undefined, {}, { accept: [name] })
  await expect(accepting).rejects.toThrow(expect.objectContaining({ name: 'CliError' }))
  await expect(accepting).rejects.toThrow(message)
  await writeSmallBuild(workspace, { sources: ONE_DAY, top: { blocking: [name] } })
  const blocking = buildIn(workspace)
  await expect(blocking).rejects.toThrow(expect.objectContaining({ name: 'CliError' }))
  await expect(blocking).rejects.toThrow(/sources\.json:1: blocking\[0\]: /)
  await expect(blocking).rejects.toThrow(message)
})

describe('the invariants of the ranking', () => {
  const SOUND: [date: string, model: string, tokens: bigint, position: number][] = [
    ['2025-03-01', 'acme/two', 20n, 1],
    ['2025-03-01', 'acme/one', 10n, 2],
  ]

  /** A database in which these rows were ranked from a rollup of `counted` tokens, and `periods` in its week and month. */
  async function databaseOf(rows: typeof SOUND, counted: bigint, periods = rows): Promise<Database> {
    const database = await memoryDatabase()
    await database.execute(
      'CREATE TEMP TABLE out_rankings_daily (date DATE, model_permaslug VARCHAR, total_tokens HUGEINT, position INTEGER)',
    )
    const textsOf = (given: typeof SOUND) =>
      given.map(([date, model, tokens, position]) => [date, model, String(tokens), String(position)])
    await database.append('out_rankings_daily', textsOf(rows))
    await database.run('rank/create_periods')
    for (const [grain, first] of Object.entries({ week: '2025-02-24', month: '2025-03-01' })) {
      const own = textsOf(periods).map(([, ...row]) => [grain, first, ...row, '1'] as string[])
      await database.append('out_rankings_periods', own)
    }
    await database.run('result/create_rollup')
    await freeze(database, [])
    await database.append('core_rollup', [['a', '2025-03-01', 'acme/one', String(counted), '1']])
    return database
  }

  const sumOf = (rows: typeof SOUND) => rows.reduce((sum, [, , tokens]) => sum + tokens, 0n)
  const crowd = Array.from({ length: 51 }, (_, index): (typeof SOUND)[number] => [
    '2025-03-01',
    `acme/${String(index).padStart(2, '0')}`,
    5n,
    index + 1,
  ])
  const tooBig = 2n ** 63n

  it('accept a ranking that follows its rules', async () => {
    await assertInvariants(await databaseOf(SOUND, 30n), '2025-03-01')
  })

  it.each<[string, typeof SOUND, string]>([
    ['too_many_rows', crowd, 'too_many_rows: A date, week or month has at most 50 models and one row of the rest.\n'],
    ['doubled_model', [...SOUND, ['2025-03-01', 'acme/one', 10n, 3]], '  2025-03-01: acme/one has 2 rows'],
    ['other_without_cause', [...SOUND, ['2025-03-01', 'other', 1n, 3]], 'has a row of the rest behind 2 models'],
    ['not_an_integer_of_64_bits', [['2025-03-01', 'acme/one', tooBig, 1]], `acme/one has ${tooBig} tokens`],
    ['not_an_integer_of_64_bits', [['2025-03-01', 'acme/one', 0n, 1]], 'acme/one has 0 tokens'],
    ['out_of_order', SOUND.map(([date, model, tokens, place]) => [date, model, tokens, 3 - place]), 'stands before'],
  ])('stop a ranking that breaks %s', async (check, rows, message) => {
    const proof = assertInvariants(await databaseOf(rows, sumOf(rows)), '2025-03-01')
    await expect(proof).rejects.toThrow(BuildError)
    await expect(proof).rejects.toThrow(`${check}: `)
    await expect(proof).rejects.toThrow(message)
    const total = sumOf(rows)
    const sound: typeof SOUND = [['2025-03-01', 'acme/one', total, 1]]
    const proofOfPeriods = assertInvariants(await databaseOf(sound, total, rows), '2025-03-01')
    await expect(proofOfPeriods).rejects.toThrow(`${check}: `)
    await expect(proofOfPeriods).rejects.toThrow(/ {2}2025-02-24: week: [\s\S]* {2}2025-03-01: month: /)
  })

  it('stop a build whose ranking breaks a rule, and nothing is published', async () => {
    const { execute } = Database.prototype
    const spy = vi.spyOn(Database.prototype, 'execute').mockImplementation(async function (this: Database, sql, given) {
      await execute.call(this, sql, given)
      if (!sql.includes('TEMP TABLE out_rankings_daily')) return
      await execute.call(this, 'UPDATE out_rankings_daily SET total_tokens = total_tokens + 1')
    })
    onTestFinished(() => spy.mockRestore())
    const workspace = await newWorkspace()
    await writeSmallBuild(workspace, { sources: ONE_DAY })
    await expect(buildIn(workspace)).rejects.toThrow('lost_tokens: ')
    expect(existsSync(datasetFolder(workspace))).toBe(false)
  })

  it('stop a ranking that does not add up to the counted tokens', async () => {
    const proof = assertInvariants(await databaseOf(SOUND, 31n), '2025-03-01')
    await expect(proof).rejects.toThrow('lost_tokens: ')
    await expect(proof).rejects.toThrow('  2025-03-01: publishes 30 tokens of 31')
    const periods = assertInvariants(await databaseOf(SOUND, 30n, SOUND.slice(1)), '2025-03-01')
    await expect(periods).rejects.toThrow('lost_tokens: Rows add up')
    await expect(periods).rejects.toThrow(
      / {2}2025-02-24: week: publishes 10 tokens of 30\n {2}2025-03-01: month: publishes 10/,
    )
  })
})
