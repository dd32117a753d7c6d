import type { Database } from '../base/database.ts'
import type { Effects } from '../base/effects.ts'
import { BuildError } from '../base/errors.ts'
import { formatInteger } from '../base/numbers.ts'
import { addDays, DATASET_START, type UtcDate } from '../contract/utc-date.ts'
import { looksPrivate, privateForm } from '../raw/model-names.ts'
import type { Sources } from '../raw/sources.ts'
import type { Account, WithheldModel } from './quality.ts'

const DEFAULT_MAX_WITHHELD_SHARE = 0.2

const SHARE_DAYS = 31

/** The published share of usage that is not known to be private. Usage of unknown models is withheld. */
export interface PublishedShare {
  share: number
  start_date: UtcDate
  end_date: UtcDate
  public_tokens: string
  withheld_tokens: string
}

export interface Share {
  published: PublishedShare
  unknown: WithheldModel[]
}

/** Measures the last completed dates or, if they have no usage, all dates. */
export async function measureShare(database: Database, account: Account, lastDate: UtcDate): Promise<Share> {
  const monthAgo = addDays(lastDate, 1 - SHARE_DAYS)
  const recent = await measureFrom(monthAgo > DATASET_START ? monthAgo : DATASET_START, lastDate, database, account)
  const { public_tokens, withheld_tokens } = recent.published
  const isEmpty = public_tokens === '0' && withheld_tokens === '0'
  return isEmpty ? measureFrom(DATASET_START, lastDate, database, account) : recent
}

async function measureFrom(
  start_date: UtcDate,
  end_date: UtcDate,
  database: Database,
  account: Account,
): Promise<Share> {
  const [row] = await database.rows<{ tokens: string }>('rank/public_tokens', { start_date, end_date })
  const unknown = account.withheldFrom(start_date, end_date)
  const counted = BigInt(row?.tokens ?? 0)
  const withheld = unknown.reduce((sum, { tokens }) => sum + BigInt(tokens), 0n)
  const share = withheld === 0n ? 1 : part(counted, withheld)
  const sums = { public_tokens: counted.toString(), withheld_tokens: withheld.toString() }
  return { published: { share, start_date, end_date, ...sums }, unknown }
}

function part(number: bigint, rest: bigint): number {
  return number === 0n ? 0 : Number(number) / Number(number + rest)
}

/** Throws `BuildError` if too much usage is withheld; only warns without a limit if a release of real logs exists. */
export function checkWithheldShare(
  share: Share,
  { sources, isFirst, report }: { sources: Sources; isFirst: boolean; report: Effects['report'] },
): void {
  const { published } = share
  const limit = sources.max_withheld_share ?? DEFAULT_MAX_WITHHELD_SHARE
  const withheld = part(BigInt(published.withheld_tokens), BigInt(published.public_tokens))
  if (withheld <= limit) return
  const found =
    `${percent(withheld)} of the tokens from ${published.start_date} to ${published.end_date} are of models that the registry ` +
    `does not know, more than max_withheld_share ${percent(limit)}`
  if (sources.max_withheld_share === undefined && !isFirst) {
    const advice = 'set "max_withheld_share" in the sources file to stop builds that withhold more'
    report({ kind: 'notice', message: `warning: ${found}${describeUnknown(share)}\n${advice}` })
    return
  }
  throw new BuildError(
    `${found}; nothing was published${describeUnknown(share)}\n` +
      'to withhold them on purpose, raise "max_withheld_share" in the sources file',
  )
}

/** Goes on after a withheld model that is published only if the registry has this very name. */
export function whyPrivate(model: string): string {
  const why = privateForm(model)
  return why === undefined ? '' : `, looks private: ${why}`
}

const MODELS_SHOWN = 10

/** Lists the largest unknown models and how to add them; '' if there are none. */
export function describeUnknown({ unknown }: Share): string {
  if (unknown.length === 0) return ''
  const shown = unknown.slice(0, MODELS_SHOWN)
  return [
    '',
    ...shown.map(
      ({ model, tokens }) => `  ${JSON.stringify(model)}: ${formatInteger(tokens)} tokens${whyPrivate(model)}`,
    ),
    ...(unknown.length > shown.length ? [`  and ${unknown.length - shown.length} more`] : []),
    howToAdd(unknown),
  ].join('\n')
}

const MODELS_NAMED = 3

/** The command that adds unknown models to the registry, in a line. It makes no model public that looks private. */
export function howToAdd(unknown: readonly Pick<WithheldModel, 'model'>[]): string {
  const open = unknown.filter(({ model }) => looksPrivate(model) === undefined)
  const names = (open.length > 0 ? open : unknown).map(({ model }) => model)
  // Others would need quotes.
  const isPlain = names.length <= MODELS_NAMED && names.every((name) => /^\w[\w./:@+-]*$/.test(name))
  const [visibility, other] = open.length > 0 ? ['public', 'private'] : ['private', 'public']
  const held = unknown.length - open.length
  const why = held === 0 ? '' : `; ${held === 1 ? '1 name looks' : `${held} names look`} private`
  return `to add: make models ARGS="--add ${visibility} ${isPlain ? names.join(' ') : 'NAME…'}" (or --add ${other}${why}); make models lists all`
}

/** Under a disclosure rule, not all tokens of public models are published. */
export function describeShare(
  { share, start_date, end_date, withheld_tokens }: PublishedShare,
  isRuled = false,
): string {
  const dates = `from ${start_date} to ${end_date}`
  const withheld = withheld_tokens === '0' ? '' : `; ${formatInteger(withheld_tokens)} tokens are of unknown models`
  return `private models aside, ${percent(share)} of the tokens ${dates} are ${isRuled ? 'of public models' : 'published'}${withheld}`
}

/** `99.87 %`. 0 % and 100 % are exact. */
export function percent(share: number): string {
  const hundredths = Math.round(share * 10_000)
  if (share < 1 && hundredths === 10_000) return 'more than 99.99 %'
  if (share > 0 && hundredths === 0) return 'less than 0.01 %'
  return `${(hundredths / 100).toFixed(hundredths % 100 === 0 ? 0 : 2)} %`
}
