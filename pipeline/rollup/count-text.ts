import type { Database } from '../base/database.ts'
import { readStatement } from '../base/statements.ts'
import type { Contents } from '../raw/files/content.ts'
import type { GroupedFile, InputGroup } from '../raw/files/group.ts'
import { judgedSql } from '../raw/ingest.ts'
import { groupRows, type TextGroups } from '../raw/text/groups.ts'

/** Enters the text files that were summed while they were read into `core_sums`. Returns those that DuckDB has to read. */
export async function countTexts(
  database: Database,
  groups: readonly InputGroup[],
  contents: Contents,
): Promise<GroupedFile[]> {
  const others: GroupedFile[] = []
  const keysOf = new Map<InputGroup, readonly string[]>()
  await database.run('count/create_text_sums')
  for (const [number, group] of groups.entries()) {
    for (const file of group.files) {
      const sums = group.format === 'parquet' ? undefined : (await contents.of(file)).groups
      if (sums === undefined) others.push({ group, file })
      else {
        keysOf.set(group, sums.columns)
        await database.append('core_text_sums', rowsOf(number, file.link, sums))
      }
    }
  }
  for (const [number, group] of groups.entries()) {
    const keys = keysOf.get(group)
    if (keys !== undefined) await judge(database, group, number, keys)
  }
  return others
}

function* rowsOf(group: number, link: string, sums: TextGroups): Iterable<string[]> {
  for (const { day, keys, has, records, identified, prompt, completion, cost } of groupRows(sums)) {
    const counts = [records, identified, prompt, completion, cost].map(String)
    yield [`${group}`, link, `${day}`, JSON.stringify(keys), JSON.stringify(has), ...counts]
  }
}

async function judge(database: Database, group: InputGroup, number: number, keys: readonly string[]): Promise<void> {
  const { sql, variables } = judgedSql(group, number, { keys, from: 'rows' })
  for (const [name, value] of Object.entries(variables)) await database.setVariable(name, value)
  await database.setVariable('text_group', number)
  await database.execute(readStatement('count/text_sums').replace('JUDGED', () => sql))
}
