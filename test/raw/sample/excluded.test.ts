/** The raw logs of the sample never become real usage, whatever a pattern of own sources matches. */
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { CliError } from '../../../pipeline/base/errors.ts'
import { writeSample } from '../../../pipeline/raw/sample/write.ts'
import {
  buildAndListen,
  buildIn,
  newWorkspace,
  publishedCsv,
  REPOSITORY,
  releaseFolder,
  rowsOf,
  runCli,
  settings,
  type Workspace,
} from '../../support/pipeline.ts'

const AS_OF = '2025-03-10T12:00:00Z'
/** What the sample's `gateway` calls its columns, so that its files could be read as one's own. */
const COLUMNS = {
  timestamp: 'ts',
  model_permaslug: 'model',
  prompt_tokens: 'tokens_in',
  completion_tokens: 'tokens_out',
}

/** A data folder as `make serve` leaves it, with own logs and a sources file beside the sample. */
async function withSample(...sources: Record<string, unknown>[]): Promise<Workspace & { sample: string }> {
  const workspace = await newWorkspace()
  const { dataDir } = workspace
  const sample = join(dataDir, 'raw/sample')
  const options = { folder: sample, lastDay: '2025-03-09', days: 7, seed: 1, requestsPerDay: 20 }
  await writeSample(options, { report: () => {}, signal: new AbortController().signal })
  await mkdir(join(dataDir, 'raw/own'))
  await writeFile(
    join(dataDir, 'raw/own/log.csv'),
    'ts,model,tokens_in,tokens_out\n2025-03-05T10:00:00Z,acme/own,20,5\n',
  )
  const own = sources.map((source) => ({ name: 'gateway', schema: 'canonical', visibility: 'public', ...source }))
  await writeFile(join(dataDir, 'sources.json'), JSON.stringify({ sources: own }))
  return { ...workspace, sources: join(dataDir, 'sources.json'), sample }
}

describe('a source of your own', () => {
  it('excludes the sample from patterns that match it, also behind a link', async () => {
    const patterns = [
      ['raw/**/*'],
      ['raw/**/*.csv.gz', 'raw/own/*.csv'],
      ['raw/*/*/*', 'raw/*/*.csv'],
      ['raw/sample/gateway/*', 'raw/own/*'],
      ['raw/own/*', 'raw/linked/*'],
    ]
    const workspace = await withSample(
      ...patterns.map((files, index) => ({ name: `gateway-${index}`, files, columns: COLUMNS })),
    )
    await symlink('sample/gateway', join(workspace.dataDir, 'raw/linked'))
    const { summary, notices } = await buildAndListen(workspace, AS_OF)
    expect(summary).toMatchObject({ outcome: 'released', synthetic: false })
    expect(rowsOf(await publishedCsv(workspace))).toEqual([`2025-03-05 acme/own ${25 * patterns.length}`])
    const notice = (index: number) =>
      `source "gateway-${index}": the files of the synthetic sample in ${workspace.sample} are excluded`
    expect(notices.filter((text) => text.includes('sample'))).toEqual([0, 1, 2, 3, 4].map(notice))
  })

  it('may have a sample.json of another program in its folders', async () => {
    const workspace = await withSample({ files: ['raw/own/*.csv', 'raw/own/more/*.csv'], columns: COLUMNS })
    const folder = join(workspace.dataDir, 'raw/own')
    await cp(join(folder, 'log.csv'), join(folder, 'more/log.csv'))
    await writeFile(join(folder, 'sample.json'), '{"name":"a sample"}')
    await writeFile(join(folder, 'more/sample.json'), 'no JSON')
    await buildIn(workspace, AS_OF)
    expect(rowsOf(await publishedCsv(workspace))).toEqual(['2025-03-05 acme/own 50'])
  })

  it('may not name a file of the sample', async () => {
    const entry = 'raw/sample/gateway/2025-03-08.csv.gz'
    const workspace = await withSample({ files: [entry, 'raw/own/*'], columns: COLUMNS })
    const failed = expect(buildIn(workspace, AS_OF)).rejects
    await failed.toThrow(CliError)
    await failed.toThrow(
      `source "gateway": ${JSON.stringify(entry)} is a file of the synthetic sample in ${workspace.sample}`,
    )
  })

  it('excludes the sample also as docs/publishing.md shows it', async () => {
    const page = await readFile(join(REPOSITORY, 'docs/publishing.md'), 'utf8')
    const block = page.split('```json\n').find((text) => text.includes('"sources"')) ?? ''
    const { sources } = JSON.parse(block.slice(0, block.indexOf('```')))
    const workspace = await withSample({ ...sources[0], visibility: 'public' })
    await expect(buildIn(workspace, AS_OF)).rejects.toThrow('there is no public usage')
  })
})

describe('the sources file of the sample', () => {
  it('makes a synthetic release, which can be reproduced and is never archived', async () => {
    const workspace = await withSample({ files: ['raw/own/*'] })
    const named = { ...workspace, sources: join(workspace.sample, 'sources.json') }
    const { summary, notices } = await buildAndListen(named, AS_OF)
    expect(summary).toMatchObject({ outcome: 'released', synthetic: true })
    expect(notices).toContain(`${workspace.sample} holds the sample: building from SYNTHETIC sample data`)
    expect(JSON.parse(await readFile(join(await releaseFolder(named), 'manifest.json'), 'utf8')).synthetic).toBe(true)

    const reproduced = await runCli(['reproduce'], settings(named, AS_OF))
    expect(reproduced.code, reproduced.stderr).toBe(0)
    const archived = await runCli(['archive', '--before', '2025-03-07'], settings(named, AS_OF))
    expect(archived.code).toBe(2)
    expect(archived.stderr).toContain('holds the sample, and the synthetic sample is not archived')
  })
})
