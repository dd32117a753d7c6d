import { markdownTable } from '../../base/markdown.ts'
import { firstDateOf } from '../../contract/tables.ts'
import { DATASET_START } from '../../contract/utc-date.ts'
import { VERSION_PARTS } from './describe.ts'
import {
  CHANGE_FIELDS,
  type FieldDescription,
  HISTORY_FIELDS,
  MODEL_FIELDS,
  PERIOD_FIELDS,
  RANKING_FIELDS,
} from './fields.ts'
import { FILE_KINDS } from './files.ts'
import { HISTORY_KEY_MEANINGS, PARQUET_KEY_MEANINGS } from './parquet-keys.ts'

/** Renders `docs/data-dictionary.md` from the objects that render the metadata. */
export function renderDictionary(): string {
  return `# Data dictionary

What the columns and files of a release mean, made from the same objects as its metadata. [Readers](readers.md) lists which tool sees which
type, [researchers](researchers.md#what-the-numbers-mean) what to know of the numbers.

## The rows

One row of the daily table is the tokens of one model on one UTC date; \`date\` and \`model_permaslug\` together name it. Rows are ordered by date,
then tokens descending, ties by the code points of the slug, with \`other\` last. No value is ever missing. In JSON, \`total_tokens\` is a string of
decimal digits, because a day may exceed 2^53.

${columns(RANKING_FIELDS)}
## Weeks and months

\`rankings-weekly.*\` and \`rankings-monthly.*\` have a row for each model and ISO 8601 week or calendar month, with the key and order of the daily
table, and these columns beside \`model_permaslug\` and \`total_tokens\`:

${columns(PERIOD_FIELDS, ['model_permaslug', 'total_tokens'])}
- **A week is not the sum of its daily rows.** Named models and \`other\` come from the sums of all models. A model that every date names has the
  sum of its daily rows, and all rows of a period add up to all rows of its dates.
- **Fewer days.** \`days\` of a week is less than 7 if the dataset begins in it, until all of its dates are published, and if one has no rows.
  ${DATASET_START}, the first possible date, is a Wednesday: its week is dated ${firstDateOf('weekly', DATASET_START)} and has at most 5 days.
- **Provisional** is a period while one of its dates is provisional, missing at the end of the release, or to come, and all later ones.
- \`tables\` in \`manifest.json\` has the \`content_hash\` of both tables; that at the top is of the daily one.
- A release that takes the place of others without some dates has no rows of periods with these dates, until the next build.
- \`monthly/<month>.csv\` beside the releases has the *daily* rows of a month.

## Changes

\`changes.csv\` turns the daily rows of the release before into those of this one; a first release inserts every row. \`date\` and
\`model_permaslug\` name the row:

${columns(CHANGE_FIELDS, ['date', 'model_permaslug'])}
\`changes-weekly.csv\` and \`changes-monthly.csv\` do the same for weeks and months, with \`days_before\` and \`days_after\`.

## Models

\`models.csv\` has a row for each model that a day, week or month names, most tokens first. Dates, ranks and tokens follow from the daily rows: a
model that only weeks or months name has 0 tokens and no dates.

${columns(MODEL_FIELDS, ['model_permaslug'])}
## The history

\`history.parquet\` and \`history.csv.gz\`, beside the releases, have the rows of all releases that were not withdrawn, of all three tables. A release R
has the rows with \`valid_from <= R\` whose \`valid_to\` is empty or later than R; R may be any instant in that form.

${columns(HISTORY_FIELDS, ['model_permaslug', 'total_tokens'])}
- Equal rows of consecutive releases are one row. A row that changes and comes back is two. A new \`position\` is a new row.
- A withdrawal takes out what only withdrawn releases had. Other rows begin and end with the next release that was not withdrawn.
- Rows are ordered by table (daily, weekly, monthly), date, \`valid_from\` and \`position\`. Unfinished periods are as each release had them.

## Versions of the data

\`data_version\` is MAJOR.MINOR.PATCH. The first release is 1.0.0. Each further one raises the highest part that applies, compared with the release
that was current when it was made, and resets the parts below. A citation of final numbers holds until MAJOR changes. A version is never
given twice.

${markdownTable(['part', 'raised when'], VERSION_PARTS)}
Under a disclosure rule, a date that gets rows for the first time raises MINOR wherever it lies, unless its week or month was final. If two models
outside the top 50 of a date swap tokens, no day changes, but a final week or month may: that is MAJOR, and a restatement of \`periods\` and
no \`dates\`.

## Old counts

A newer version may read the same logs differently, and restates final numbers with the reason \`reading\`. Where the logs are gone, the
publisher may keep the old numbers: then \`coverage.json\` has \`"old_counts": true\` for these dates, and manifests list them in \`old_counts\`.

## Files of a release

\`rankings-weekly\` and \`rankings-monthly\` come in the formats of \`rankings-daily\`. \`manifest.json\` lists what a release has. CSV is UTF-8 with
one header line, line feeds, quotes only where needed, and no byte order mark.

${markdownTable(
  ['file', 'media type', 'what it is'],
  Object.entries(FILE_KINDS)
    .filter(([path]) => !/^rankings-(weekly|monthly)/.test(path))
    .map(([path, kind]) => [`\`${path}\``, mediaTypes(kind), kind.title]),
)}
## Footer of the Parquet files

${list(PARQUET_KEY_MEANINGS)}
That of \`history.parquet\` has these, and no others that tell of one release:

${list(HISTORY_KEY_MEANINGS)}`
}

function list(meanings: Record<string, string>): string {
  return Object.entries(meanings)
    .map(([key, meaning]) => `- \`${key}\`: ${meaning}\n`)
    .join('')
}

/** A table of the fields that no table or text before has described. */
function columns(fields: readonly FieldDescription[], described: readonly string[] = []): string {
  return markdownTable(
    ['column', 'SQL type', 'rules', 'example', 'meaning'],
    fields
      .filter(({ name }) => !described.includes(name))
      .map((field) => [
        `\`${field.name}\``,
        `\`${field.sql_type}\``,
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
