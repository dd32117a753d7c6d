import type { Database } from '../base/database.ts'
import type { Contents } from '../raw/files/content.ts'
import type { GroupedFile, InputGroup } from '../raw/files/group.ts'
import { defineTextGroups } from '../raw/ingest.ts'
import type { TextInput } from '../raw/record-groups.ts'
import type { Source } from '../raw/sources.ts'
import { groupRows, type TextGroups } from '../raw/text/groups.ts'

/** Enters the text files that were summed while they were read into `core_sums`. Returns those that DuckDB has to read. */
export async function countTexts(
  database: Database,
  source: Source,
  groups: readonly InputGroup[],
  contents: Contents,
): Promise<GroupedFile[]> {
  const others: GroupedFile[] = []
  const inputs: TextInput[] = []
  await database.run('count/create_text_groups')
  await database.run('count/create_read_files')
  for (const group of groups) {
    const summed: { link: string; sums: TextGroups }[] = []
    for (const file of group.files) {
      const sums = group.format === 'parquet' ? undefined : (await contents.of(file)).groups
      if (sums === undefined) others.push({ group, file })
      else summed.push({ link: file.link, sums })
    }
    const [first] = summed
    if (first === undefined) continue
    const number = `${inputs.length}`
    await database.append(
      'core_text_groups',
      rowsOf(
        number,
        summed.map(({ sums }) => sums),
      ),
    )
    await database.append(
      'core_read_files',
      summed.map(({ link }, index) => [number, `${index}`, link]),
    )
    inputs.push({ group, keys: first.sums.columns })
  }
  if (inputs.length === 0) return others
  await defineTextGroups(database, source, inputs)
  await database.run('count/sums')
  return others
}

function* rowsOf(number: string, files: readonly TextGroups[]): Iterable<string[]> {
  for (const [index, sums] of files.entries()) {
    for (const { day, keys, has, records, identified, prompt, completion, cost } of groupRows(sums)) {
      const counts = [records, identified, prompt, completion, cost].map(String)
      yield [number, `${index}`, `${day}`, JSON.stringify(keys), JSON.stringify(has), ...counts]
    }
  }
}
