import { CHECKSUMS_FILE } from '../../base/checksums.ts'
import { markdownParagraph, markdownTable } from '../../base/markdown.ts'
import { toYaml } from '../../base/yaml.ts'
import { oneLine } from '../../contract/one-line.ts'
import { dataFile } from '../../contract/release-files.ts'
import { firstDateOf, TABLES } from '../../contract/tables.ts'
import { DATASET_START } from '../../contract/utc-date.ts'
import { renderBibtex } from './bibtex.ts'
import { citationOf, citationSentence } from './citation.ts'
import type { Caveat, DatasetDescription } from './describe.ts'
import { CITATION_FILES } from './document-kinds.ts'

export function renderReadme(dataset: DatasetDescription): string {
  const { publisher, license, files, fields, disclosure, tables } = dataset
  const hasRule = disclosure !== undefined && disclosure.statement !== 'none'
  const caveats = dataset.caveats.filter((caveat) => caveat !== disclosure?.caveat)
  const { author, title, abstract } = citationOf(dataset)
  return `---
${frontMatter(dataset)}---

# ${title}

${markdownParagraph(abstract)}

- Release \`${dataset.release}\`, data version ${dataset.data_version}, form ${dataset.schema_version}. This folder never changes.
- ${dataset.rows} rows on ${dataset.days} days, ${dataset.start_date} to ${dataset.end_date}${hasRule ? '' : `; provisional from ${dataset.provisional_from} on`}.
- Content hash \`${dataset.content_hash}\`: the SHA-256 of the rows as CSV, the same for every format.
${tables === undefined ? '' : tableLine('Weeks', tables.weekly) + tableLine('Months', tables.monthly)}- Publisher: ${author}, ${publisher.url} (${oneLine(publisher.contact)}).
- Licence: [${license.title}](${license.path}). Credit it as: ${oneLine(dataset.attribution)}

## Files

${markdownTable(
  ['file', 'rows', 'bytes', 'what it is'],
  files.map(({ path, rows, bytes, title }) => [`\`${path}\``, rows === undefined ? '' : `${rows}`, `${bytes}`, title]),
)}
\`manifest.json\` lists every file with its size and SHA-256; \`datapackage.json\` (Frictionless), \`croissant.json\`
(Croissant) and \`dcat.jsonld\` (DCAT) describe them for programs.

## Columns

${markdownTable(
  ['column', 'type', 'unit', 'meaning'],
  fields.map(({ name, sql_type, unit, description }) => [`\`${name}\``, `\`${sql_type}\``, unit, description]),
)}
Rows are ordered by date, then tokens descending, ties by the code points of the slug, with \`other\` last. No value is
missing. JSON and NDJSON write \`total_tokens\` as a string of digits.
${tables === undefined ? '' : PERIOD_COLUMNS}
${section(disclosure?.caveat)}## What to know

${caveats.map(({ name, text }) => `- **${name}.** ${text}\n`).join('')}
## How it was made

${dataset.method}

## How to check it

\`\`\`sh
sha256sum --check ${CHECKSUMS_FILE}
\`\`\`

## How to cite it

${markdownParagraph(citationSentence(dataset))}

\`\`\`bibtex
${renderBibtex(dataset)}\`\`\`

The same in other formats: ${CITATION_FILES}.
`
}

/** What the Hub of Hugging Face shows, and the Parquet file of each table for `load_dataset`. */
function frontMatter({ title, license, keywords, tables }: DatasetDescription): string {
  const own = TABLES.filter((table) => table === 'daily' || tables !== undefined)
  return toYaml({
    license: license.name.toLowerCase(),
    pretty_name: title,
    tags: keywords.map((keyword) => keyword.toLowerCase().replaceAll(' ', '-')),
    configs: own.map((table) => ({
      config_name: table,
      data_files: dataFile(table, 'parquet'),
      ...(table === 'daily' && { default: true }),
    })),
  })
}

function tableLine(name: string, { rows, start_date, end_date, provisional_from, content_hash }: TableOfPeriods) {
  return `- ${name}: ${rows} rows, dated ${start_date} to ${end_date}; those from ${provisional_from} on are provisional. Content hash \`${content_hash}\`.\n`
}

type TableOfPeriods = NonNullable<DatasetDescription['tables']>['weekly']

const PERIOD_COLUMNS = `
Weeks and months have one column more, \`days\`: how many dates were summed. Their \`date\` is the first of the period: a
Monday, or the first of a month. The week of ${DATASET_START} is dated ${firstDateOf('weekly', DATASET_START)}.
`

function section(caveat: Caveat | undefined): string {
  return caveat === undefined ? '' : `## ${caveat.name}\n\n${caveat.text}\n\n`
}
