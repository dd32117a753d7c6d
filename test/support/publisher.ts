import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Publisher } from '../../pipeline/contract/manifest.ts'

/** Who publishes in tests: a release of real logs needs a publisher that is not the placeholder of the sample. */
export const TEST_PUBLISHER: Publisher = {
  name: 'Test Gateway',
  url: 'https://tokens.test-gateway.example/tokenboard',
  contact: 'data@test-gateway.example',
  title: 'Daily LLM token rankings',
  description:
    'Tokens per language model and UTC day on one LLM gateway: the top 50 public models and one row for all others.',
}

/** Writes `publisher.json` into a data folder, which is created where it is missing. */
export async function writePublisher(dataDir: string, publisher: Publisher = TEST_PUBLISHER): Promise<void> {
  await mkdir(dataDir, { recursive: true })
  await writeFile(join(dataDir, 'publisher.json'), `${JSON.stringify(publisher, undefined, 2)}\n`)
}
