import { counted, formatInteger } from '../base/numbers.ts'
import type { BuildSummary } from '../build-summary.ts'
import { DEFAULT_RULE } from '../contract/disclosure.ts'
import type { Changes, DateChange, TableComparison } from '../dataset/changes.ts'
import type { Warning } from '../dataset/checks.ts'
import { describeRule, describeUnsafe } from '../dataset/disclosure.ts'
import { describeShare, howToAdd, whyPrivate } from '../dataset/published-share.ts'
import { describeRestated } from '../dataset/restated.ts'
import { section } from './output.ts'

export function describeSummary(summary: BuildSummary): string {
  const { outcome, synthetic, start_date, end_date, days, models, rows, total_tokens, path } = summary
  const lines = [
    `${headline(summary)}${synthetic ? ' (SYNTHETIC sample data)' : ''}`,
    `  days      ${days}, ${start_date} to ${end_date}`,
    `  models    ${formatInteger(models)} with tokens, ${counted(rows, 'row')} published`,
    `  tokens    ${formatInteger(total_tokens)}`,
    ...describeRecords(summary.records),
    `  share     ${describeShare(summary.published_share, summary.disclosure_rule !== undefined)}`,
    ...describeDisclosure(summary.disclosure),
    ...describeInForce(summary.disclosure_rule),
    ...describeChain(summary),
    ...describeVersion(summary),
    ...describeDropped(summary),
    ...describeSourcesWithoutIds(summary.sources_without_request_id),
    ...describeChanges(summary.changes),
    ...describeWarnings(summary.warnings),
    ...(outcome === 'would_release' ? [] : [`  files     ${path}`]),
    ...describePublished(summary.published),
    ...describeSignature(summary.signature),
  ]
  return `${lines.join('\n')}\n`
}

function describeDisclosure(disclosure: BuildSummary['disclosure']): string[] {
  if (disclosure === undefined) return []
  const rule = describeRule(DEFAULT_RULE, disclosure.protects)
  return [`  customers ${describeUnsafe(disclosure)} would not be safe if each needed ${rule} (make disclosure)`]
}

function describeInForce(done: BuildSummary['disclosure_rule']): string[] {
  if (done === undefined) return []
  const { rule, protects, dates_before_rule, new_dates, joined_cells, dates_not_published, late_dates } = done
  const late = `${counted(late_dates, 'published date')} ${late_dates === 1 ? 'has' : 'have'} other usage by now, which is not published`
  return [
    `  rule      ${describeRule(rule, protects)}; dates are published once, ${counted(rule.publish_after_days, 'day')} after their end`,
    `            ${counted(new_dates, 'new date')}: ${counted(joined_cells, 'model')} joined "other"; ` +
      `${counted(dates_not_published, 'date')} not published${late_dates === 0 ? '' : `; ${late}`}`,
    ...describeBefore(dates_before_rule),
  ]
}

function describeBefore(dates: number): string[] {
  if (dates === 0) return []
  const keep = dates === 1 ? 'keeps its rows' : 'keep their rows'
  const named = `${counted(dates, 'date')} from before the rule ${keep}, which the rule does not protect`
  return [`            ${named}: docs/publishing.md, Dates from before the rule`]
}

function describeChain({ outcome, new_chain }: BuildSummary): string[] {
  if (new_chain === undefined) return []
  const { replaced, kept_in } = new_chain
  const gone = replaced.length === 1 ? 'is gone' : 'are gone'
  const [isNew, go] = outcome === 'released' ? ['a new one', gone] : ['would be a new one', 'would go']
  const previous = counted(replaced.length, 'previous release')
  return [`  chain     ${isNew}; ${previous} ${kept_in === null ? go : `in ${kept_in}`}`]
}

function describeVersion({ outcome, data_version, restated }: BuildSummary): string[] {
  if (data_version === undefined) return []
  const version = `  version   ${data_version}`
  if (restated === undefined) return [version]
  const { reason } = restated
  const advice = outcome === 'would_release' && reason === 'unspecified' ? '; --reason and --note can say why' : ''
  return [version, `  restated  ${describeRestated(restated)}: reason ${reason}${advice}`]
}

function describeDropped({ outcome, changes, dropped }: BuildSummary): string[] {
  if (dropped === undefined) return []
  const [first, ...others] = dropped
  const which = `${first}${others.length === 0 ? '' : ` to ${others.at(-1)}`}`
  const isDry = outcome === 'would_release' || changes !== undefined
  const files = dropped.length === 1 ? 'its data files' : 'their data files'
  return [
    `  dropped   ${counted(dropped.length, 'release')} ${isDry ? 'would lose' : 'lost'} ${files}, ${which}; the history has the rows`,
  ]
}

function describeSignature(signature: BuildSummary['signature']): string[] {
  if (signature === undefined) return []
  return [`  signed    by ${signature.signed_by}, good until ${signature.expires}`]
}

function describePublished(published: BuildSummary['published']): string[] {
  if (published === undefined) return []
  const mebibytes = (published.bytes / 2 ** 20).toFixed(1)
  return [`  published ${counted(published.files, 'file')}, ${mebibytes} MiB in all`]
}

function headline({ outcome, release, changes }: BuildSummary): string {
  const unchanged = `nothing changed: release ${release} stays current`
  if (outcome === 'would_release') return `dry run: release ${release} would be made; nothing was published`
  if (changes !== undefined) return `dry run: ${unchanged}, no new one would be made`
  return outcome === 'released' ? `released ${release}` : `${unchanged}, no new one was made`
}

const WITHHELD_SHOWN = 10

function describeRecords(records: BuildSummary['records']): string[] {
  const {
    read,
    published,
    duplicates,
    left_out,
    archived_date,
    rejected,
    withheld,
    before_dataset_start,
    not_yet_complete,
    token_parts_disagree,
  } = records
  const aside = [
    ...Object.entries(rejected).map(([reason, count]) => `${formatInteger(count)} rejected (${reason})`),
    ...(duplicates > 0 ? [counted(duplicates, 'duplicate')] : []),
    ...(left_out > 0
      ? [
          `${formatInteger(left_out)} left out (no usage by their schema: cache hits, failures, spans that repeat others)`,
        ]
      : []),
    ...(archived_date > 0 ? [`${formatInteger(archived_date)} of dates that were archived before they came`] : []),
    ...(records.private > 0 ? [`${formatInteger(records.private)} private`] : []),
    ...(before_dataset_start > 0 ? [`${formatInteger(before_dataset_start)} before the dataset begins`] : []),
    ...(not_yet_complete > 0 ? [`${formatInteger(not_yet_complete)} of days not yet complete`] : []),
  ]
  const contradictory = Object.entries(token_parts_disagree).map(
    ([reason, count]) => `${formatInteger(count)} ${reason}`,
  )
  const unknown = withheld
    .slice(0, WITHHELD_SHOWN)
    .map(
      ({ model, records: count, tokens }) =>
        `${JSON.stringify(model)} (${counted(count, 'record')}, ${counted(tokens, 'token')}${whyPrivate(model)})`,
    )
  const more = withheld.length > WITHHELD_SHOWN ? ` and ${withheld.length - WITHHELD_SHOWN} more` : ''
  return [
    `  records   ${formatInteger(read)} read, ${formatInteger(published)} counted`,
    ...(aside.length > 0 ? [`            not counted: ${aside.join(', ')}`] : []),
    ...(contradictory.length > 0
      ? [`            counted although their token counts contradict each other: ${contradictory.join(', ')}`]
      : []),
    ...(unknown.length > 0
      ? [
          `  withheld  models the registry does not know: ${unknown.join(', ')}${more}`,
          `            ${howToAdd(withheld)}`,
        ]
      : []),
  ]
}

const SOURCES_SHOWN = 10

function describeSourcesWithoutIds(sources: BuildSummary['sources_without_request_id']): string[] {
  const lines = sources.map(({ source, records, accepted_records }) => {
    const share =
      records === accepted_records
        ? 'no record has a'
        : `${formatInteger(records)} of ${counted(accepted_records, 'record')} have no`
    return `${JSON.stringify(source)}: ${share} request_id; one that is delivered twice counts twice`
  })
  return section('no ids', lines, SOURCES_SHOWN)
}

const WARNINGS_SHOWN = 10

function describeWarnings(warnings: readonly Warning[]): string[] {
  const lines = warnings.map(
    ({ check, date, finding }) => `${date === undefined ? '' : `${date} `}${finding} (${check})`,
  )
  return section('warnings', lines, WARNINGS_SHOWN)
}

const DATES_SHOWN = 20

/** Facts that the changes of rows say. */
const ROW_FACTS = new Set(['content_hash', 'weekly_content_hash', 'monthly_content_hash', 'end_date'])

function describeChanges(changes: Changes | undefined): string[] {
  if (changes === undefined || changes.facts.length === 0) return []
  const { facts, dates, rows, weekly, monthly } = changes
  const besides = rows.before === 0 ? [] : facts.filter((fact) => !ROW_FACTS.has(fact))
  return section(
    'changes',
    [
      countChanges('date', dates),
      `${formatInteger(rows.before)} -> ${counted(rows.after, 'row')}: ${formatInteger(rows.added)} added, ` +
        `${formatInteger(rows.changed)} with other tokens, ${formatInteger(rows.removed)} removed`,
      `${countChanges('week', weekly.dates)}; ${countChanges('month', monthly.dates)}`,
      ...(besides.length > 0 ? [`besides the rows: ${besides.join(', ')}`] : []),
      ...dates.toReversed().map(describeDate),
    ],
    DATES_SHOWN,
  )
}

function countChanges(noun: string, dates: TableComparison['dates']): string {
  const count = (wanted: DateChange['change']) => dates.filter(({ change }) => change === wanted).length
  return `${counted(count('added'), noun)} added, ${count('changed')} changed, ${count('removed')} removed`
}

function describeDate({ date, change, rows_before, rows_after, tokens_before, tokens_after }: DateChange): string {
  const [tokens, rows] = [counted(tokens_after, 'token'), counted(rows_after, 'row')]
  if (change === 'added') return `${date} added: ${rows}, ${tokens}`
  if (change === 'removed') return `${date} removed: ${counted(rows_before, 'row')}, ${counted(tokens_before, 'token')}`
  return `${date} changed: ${formatInteger(rows_before)} -> ${rows}, ${formatInteger(tokens_before)} -> ${tokens}`
}
