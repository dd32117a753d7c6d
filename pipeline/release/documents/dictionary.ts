import { markdownTable } from '../../base/markdown.ts'
import { firstDateOf } from '../../contract/tables.ts'
import { DATASET_START } from '../../contract/utc-date.ts'
import { CAVEATS, PERIODS, PROVISIONAL, VERSION_PARTS } from './describe.ts'
import {
  CHANGE_FIELDS,
  type FieldDescription,
  HISTORY_FIELDS,
  MODEL_FIELDS,
  PERIOD_CHANGE_FIELDS,
  PERIOD_FIELDS,
  RANKING_FIELDS,
} from './fields.ts'
import { FILE_KINDS } from './files.ts'
import { HISTORY_KEY_MEANINGS, PARQUET_KEY_MEANINGS } from './parquet-keys.ts'

/** Renders `docs/data-dictionary.md` from the objects that render the metadata. */
export function renderDictionary(): string {
  return `# Data dictionary

What the columns and files of a release mean. This page is made from the same objects as the metadata of every release,
and a test keeps it current. [Readers](readers.md) lists which tool sees which type.

## The rows

One row of the daily table is the tokens of one model on one UTC date; \`date\` and \`model_permaslug\` together name it.
Rows are ordered by date, then tokens descending, ties by the code points of the slug, with \`other\` last. No value is
ever missing.

${columns(RANKING_FIELDS)}
## Weeks and months

\`rankings-weekly.*\` and \`rankings-monthly.*\` are tables of their own. One row is the tokens of one model in one period: an
ISO 8601 week, Monday to Sunday, or a calendar month. Key and order are those of the daily table.

${columns(PERIOD_FIELDS)}
- **A week is not the sum of its daily rows.** The named models and \`other\` of a period come from the sums of all models. A
  model that is 51st on a date has no row there, but its tokens count for its week. A model that every date of a period
  names has the sum of its daily rows there, and all rows of a period add up to all rows of its dates.
- **Periods with fewer days.** \`days\` of a week is less than 7 if the dataset begins in it, until all of its dates are
  published, and if one of them has no rows.
- **The first week may begin before the dataset.** ${DATASET_START}, the first possible \`start_date\` of a release, is a
  Wednesday: its week is dated ${firstDateOf('weekly', DATASET_START)}, and has at most 5 days.
- **Provisional periods.** A week or month is provisional while one of its dates is provisional, missing at the end of the
  release, or to come; so are all later ones. Then it is final, and a change of it is a restatement.
- **Hashes.** \`tables\` in \`manifest.json\` has rows, dates and \`content_hash\` of both tables. The \`content_hash\` at the top
  of the manifest is that of the daily table.
- **Withdrawn dates.** A release that takes the place of others without some of their dates has no rows of weeks and months
  with these dates. The next build ranks these anew, without them.
- \`monthly/<month>.csv\` beside the releases has the *daily* rows of a month.

## Changes

\`changes.csv\` of a release turns the daily rows of the release before into its own; a first release inserts every row.

${columns(CHANGE_FIELDS)}
\`changes-weekly.csv\` and \`changes-monthly.csv\` do the same for weeks and months. The first release that has these tables
inserts every row of them.

${columns(PERIOD_CHANGE_FIELDS)}
## Models

\`models.csv\` has a row for each model that a day, a week or a month names, most tokens first. Dates, ranks and tokens
follow from the daily rows: a model that only weeks or months name has 0 tokens and no dates there. Name, author and
aliases are the publisher's.

${columns(MODEL_FIELDS)}
## The history

\`history.parquet\` and \`history.csv.gz\`, beside the releases, have the rows of all releases that were not withdrawn, of all
three tables. \`valid_from\` is the first release that has the row. \`valid_to\` is the first one that does not have it any more.
So a release R has the rows with \`valid_from <= R\` whose \`valid_to\` is empty or later than R. Sort them by \`date\` and
\`position\`. Names of releases sort by time, so R may be any instant in that form: it gives the newest release by then.

${columns(HISTORY_FIELDS)}
- **Equal rows of consecutive releases are one row.** A row that changes and comes back is two. A model that another one
  overtakes has a new \`position\`, so it has a new row.
- **A withdrawal** takes out what only withdrawn releases had. Other rows begin and end with the next release that stands.
- **Order.** Rows are ordered by table (daily, weekly, monthly), date, \`valid_from\` and \`position\`.
- **Unfinished weeks and months** are in it as each release had them.

## Versions of the data

\`data_version\` of a release is MAJOR.MINOR.PATCH. The first release is 1.0.0. Each further release raises the highest part
that applies, and the parts below it start again at 0.

${markdownTable(['part', 'raised when'], VERSION_PARTS)}
All of this compares a release with the previous one: the release that was current when it was made. A citation of final
numbers therefore holds until MAJOR changes. The count goes on from the last release that was ever made, so a version is never
given twice, even after a withdrawal.

Under a disclosure rule, a date that gets rows for the first time raises MINOR wherever it lies: no published number changes,
unless its week or month was final.

Two models outside the top 50 of a date may swap tokens. No row of a day changes, but a week or month that names them does: if
it was final, this is MAJOR and a restatement, of \`periods\` and no \`dates\`.

## Old counts

A newer version of Tokenboard may read the same logs differently. It reads them again, and final numbers that change are a
restatement with the reason \`reading\`. Where the logs are gone, the publisher may keep the old numbers. \`coverage.json\` then
has \`"old_counts": true\` for these dates: some of their records are still counted the way an earlier version counted them. The
manifest of each release lists the dates in \`old_counts\`, as ranges with \`start_date\` and \`end_date\`. Both keys are absent where
there are no such dates.

## Files of a release

${markdownTable(
  ['file', 'media type', 'what it is'],
  Object.entries(FILE_KINDS).map(([path, kind]) => [`\`${path}\``, mediaTypes(kind), kind.title]),
)}
A file is listed in \`manifest.json\` when the release has it. CSV is UTF-8 with one header line, line feeds, quotes only
where they are needed, and no byte order mark.

## Footer of the Parquet files

${markdownTable(
  ['key', 'meaning'],
  Object.entries(PARQUET_KEY_MEANINGS).map(([key, meaning]) => [`\`${key}\``, meaning]),
)}
The footer of \`history.parquet\` names no single release. It has these keys, and all others that do not tell of one:

${markdownTable(
  ['key', 'meaning'],
  Object.entries(HISTORY_KEY_MEANINGS).map(([key, meaning]) => [`\`${key}\``, meaning]),
)}
## What to know

- **Provisional days.** ${PROVISIONAL}
- **${PERIODS.name}.** ${PERIODS.text}
${CAVEATS.map(({ name, text }) => `- **${name}.** ${text}\n`).join('')}`
}

function columns(fields: readonly FieldDescription[]): string {
  const isJson = fields === RANKING_FIELDS || fields === PERIOD_FIELDS
  return markdownTable(
    ['column', 'SQL type', ...(isJson ? ['in JSON'] : []), 'unit', 'rules', 'example', 'meaning'],
    fields.map((field) => [
      `\`${field.name}\``,
      `\`${field.sql_type}\``,
      ...(isJson ? [field.json_type] : []),
      field.unit,
      rules(field),
      `\`${field.example}\``,
      field.description,
    ]),
  )
}

function rules({ constraints }: FieldDescription): string {
  const { required, minimum, maximum, minLength, maxLength, pattern, enum: values } = constraints
  return [
    required ? 'always given' : 'may be empty',
    ...(minimum === undefined ? [] : [`at least ${minimum}`]),
    ...(maximum === undefined ? [] : [`at most ${maximum}`]),
    ...(minLength === undefined || maxLength === undefined ? [] : [`${minLength} to ${maxLength} characters`]),
    ...(pattern === undefined ? [] : [`fits \`${pattern}\``]),
    ...(values === undefined ? [] : [values.map((value) => `\`${value}\``).join(', ')]),
  ].join('; ')
}

function mediaTypes({ content_type, compression }: { content_type: string; compression?: 'gzip' }): string {
  return compression === undefined ? content_type : `${content_type}, gzip`
}
