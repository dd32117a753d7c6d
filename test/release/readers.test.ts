/** Readers other than DuckDB see what was published, to the last digit. `test/clients/standards.test.ts` has Python's. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readManifest } from '../../pipeline/release/verify.ts'
import { readWithJavaScript, withVersions } from '../support/javascript-readers.ts'
import { writeOddBuild } from '../support/odd-build.ts'
import { buildIn, createWorkspace, releaseFolder, removeWorkspace, type Workspace } from '../support/pipeline.ts'

let workspace: Workspace
beforeAll(async () => {
  workspace = await createWorkspace()
  await writeOddBuild(workspace)
  await buildIn(workspace)
})
afterAll(() => removeWorkspace(workspace))

it('hyparquet and arrow read every row of a release, odd slugs and numbers beyond 2^53 too', async () => {
  const folder = await releaseFolder(workspace)
  const { rows, content_hash } = await readManifest(folder)
  const readings = await readWithJavaScript(folder)
  expect(readings.map(({ reader }) => withVersions(reader))).toEqual([
    expect.stringMatching(/^hyparquet \d+\.\d+\.\d+$/),
    expect.stringMatching(/^parquet-wasm \d+\.\d+\.\d+, apache-arrow \d+\.\d+\.\d+$/),
  ])
  for (const reading of readings) expect(reading).toMatchObject({ rows, content_hash })
  expect(readings.map(({ types }) => types)).toEqual([
    ['Date', 'string', 'bigint'],
    ['Date32<DAY>', 'Utf8', 'Int64'],
  ])
})
