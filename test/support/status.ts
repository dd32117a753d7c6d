/** A catalog as commands read it, without the rest of what is published. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { toJson } from '../../pipeline/base/json.ts'
import type { Published } from '../../pipeline/operation/published.ts'

export const PUBLISHED: Published = {
  publisher: 'Example',
  synthetic: false,
  release: '20250310T120000Z',
  as_of: '2025-03-10T12:00:00Z',
  start_date: '2025-03-01',
  end_date: '2025-03-09',
  data_version: '1.2.3',
  rows: 42,
  next_expected: '2025-03-11T01:00:00Z',
  stale_after: '2025-03-12T01:00:00Z',
}

/** Writes `catalog.json` with these facts. */
export async function writeCatalog(publicDir: string, facts: Partial<Published> = {}): Promise<void> {
  const { publisher, synthetic, next_expected, stale_after, ...latest } = { ...PUBLISHED, ...facts }
  const content_hash = `sha256:${'0'.repeat(64)}`
  const path = `datasets/rankings-daily/v1/releases/${latest.release}/`
  const dataset = { synthetic, latest: { ...latest, content_hash, path }, next_expected, stale_after }
  const catalog = { publisher: { name: publisher }, datasets: [dataset] }
  await writeFile(join(publicDir, 'catalog.json'), toJson(catalog))
}
