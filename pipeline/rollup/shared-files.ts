import type { Database } from '../base/database.ts'
import { readsPaths } from '../raw/files/path-columns.ts'
import type { RollupRequest } from './engine.ts'

const SHOWN = 3

/**
 * Reports files that two sources have, under one name or two. Different conditions on records are no reason to, and
 * neither are equal contents whose paths have other columns.
 */
export async function reportShared(
  database: Database,
  { sources: { sources }, onNotice }: Pick<RollupRequest, 'sources' | 'onNotice'>,
): Promise<void> {
  const conditions = new Map(sources.map(({ name, where }) => [name, JSON.stringify(where)]))
  const inPaths = new Set(sources.filter(readsPaths).map(({ name }) => name))
  type Row = { source: string; name: string; other_source: string; other_name: string; is_in_one_place: boolean }
  const shared = (await database.rows<Row>('state/shared_contents')).filter(
    ({ source, other_source, is_in_one_place }) =>
      conditions.get(source) === conditions.get(other_source) &&
      (is_in_one_place || !(inPaths.has(source) || inPaths.has(other_source))),
  )
  for (const { source, name, other_source, other_name } of shared.slice(0, SHOWN)) {
    const what = name === other_name ? `both read ${name}` : `have the same records in ${name} and ${other_name}`
    onNotice(`sources ${JSON.stringify(source)} and ${JSON.stringify(other_source)} ${what}: they count twice`)
  }
  if (shared.length > SHOWN) onNotice(`${shared.length} files in total are in two sources`)
}
