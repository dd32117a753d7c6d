import { markdownParagraph, markdownTable } from '../base/markdown.ts'
import { toYaml, type YamlDocument } from '../base/yaml.ts'
import { oneLine } from '../contract/one-line.ts'
import { renderBibtex } from '../release/documents/bibtex.ts'
import type { DatasetDescription } from '../release/documents/describe.ts'
import type { FieldDescription } from '../release/documents/fields.ts'

/** A table of a dataset repository, in a file of its own. */
export interface CardTable {
  name: keyof typeof ABOUT
  path: string
  rows: number
  fields: readonly FieldDescription[]
}

const ABOUT = {
  daily: 'tokens per UTC date and model',
  weekly: 'tokens per ISO week and model, ranked by their own sums',
  monthly: 'tokens per month and model, ranked by their own sums',
  models: 'every model that the rows name: its names, when it was there, its best rank',
  changes: 'every daily row that differs from the previous release',
} as const

/** `README.md` of a dataset repository of Hugging Face: its front matter says which file each configuration loads. */
export function renderDatasetCard(
  dataset: DatasetDescription,
  tables: readonly CardTable[],
  repo = 'OWNER/NAME',
): string {
  const { license, caveats, release } = dataset
  return `---
${toYaml(frontMatter(dataset, tables))}---

# ${oneLine(dataset.title)}

${markdownParagraph(oneLine(dataset.description))}

This is release \`${release}\`, data version ${dataset.data_version}. Its page, with all files and their checksums, is
<${dataset.page}>. \`manifest.json\` is that of the release.

## How to load it

\`\`\`python
from datasets import load_dataset

rows = load_dataset("${repo}", "daily", split="train")
\`\`\`

A folder with these files loads in the same way: put its path in the place of \`${repo}\`. In SQL, with DuckDB:

\`\`\`sql
FROM 'hf://datasets/${repo}/rankings-daily.parquet';
\`\`\`

## Tables

${markdownTable(
  ['configuration', 'file', 'rows', 'what it is'],
  tables.map(({ name, path, rows }) => [rows === 0 ? '' : `\`${name}\``, `\`${path}\``, `${rows}`, ABOUT[name]]),
)}
${tables.some(({ rows }) => rows === 0) ? NO_ROWS : ''}The files \`rankings-*\` are those of the release, byte for byte. The others are its CSV files with types.

${tables.map(columns).join('\n')}
## What to know

${caveats.map(({ name, text }) => `- **${name}.** ${text}\n`).join('')}
## License and credit

[${license.title}](${license.path}). Give credit with this line:

> ${oneLine(dataset.attribution)}

## How to cite it

\`\`\`bibtex
${renderBibtex(dataset)}\`\`\`
`
}

const NO_ROWS =
  'This release changed no row of a day. `datasets` loads no table without rows, so there is no configuration `changes`.\n\n'

function frontMatter(dataset: DatasetDescription, tables: readonly CardTable[]): YamlDocument {
  return {
    license: dataset.license.name.toLowerCase(),
    pretty_name: dataset.title,
    language: ['en'],
    tags: dataset.keywords.map((keyword) => keyword.toLowerCase().replaceAll(' ', '-')),
    task_categories: ['time-series-forecasting'],
    size_categories: [sizeCategory(dataset.rows)],
    configs: tables
      .filter(({ rows }) => rows > 0)
      .map(({ name, path }) => ({ config_name: name, data_files: path, ...(name === 'daily' && { default: true }) })),
  }
}

/** Such as `10K<n<100K`. */
function sizeCategory(rows: number): string {
  if (rows < 1000) return 'n<1K'
  const low = 10 ** (String(rows).length - 1)
  return `${short(low)}<n<${short(low * 10)}`
}

function short(power: number): string {
  return power < 1_000_000 ? `${power / 1000}K` : `${power / 1_000_000}M`
}

function columns({ name, fields }: CardTable): string {
  return `### \`${name}\`

${markdownTable(
  ['column', 'type', 'unit', 'meaning'],
  fields.map(({ name: column, sql_type, unit, description }) => [
    `\`${column}\``,
    `\`${sql_type}\``,
    unit,
    description,
  ]),
)}`
}
