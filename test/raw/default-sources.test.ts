/** Which sources file a command reads where SOURCES is unset. */
import { mkdir, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type CliResult, newWorkspace, publishedCsv, rowsOf, runCli, type Workspace } from '../support/pipeline.ts'
import { writePublisher } from '../support/publisher.ts'
import { useSmallSample } from '../support/small-sample.ts'

const AS_OF = '2025-03-10T12:00:00Z'
const HEADER = 'timestamp,model_permaslug,prompt_tokens,completion_tokens'

/** A folder with a sources file of one public log, in which `model` had 15 tokens. */
async function writeSources(folder: string, model: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  const source = { name: 'gateway', schema: 'canonical', files: ['usage.csv'], visibility: 'public' }
  await writeFile(join(folder, 'sources.json'), JSON.stringify({ sources: [source] }))
  await writeFile(join(folder, 'usage.csv'), `${HEADER}\n2025-03-01T10:00:00Z,${model},10,5\n`)
}

/** A machine on which `data` is one installation and `B` another; commands run in the folder above both. */
async function twoInstallations(): Promise<Workspace> {
  const workspace = await newWorkspace()
  await writeSources(workspace.dataDir, 'a/one')
  await writePublisher(join(workspace.root, 'B'))
  return workspace
}

function runB({ root }: Workspace, words: string[], environment: Record<string, string> = {}): Promise<CliResult> {
  return runCli(words, { DATA_DIR: 'B', PUBLIC_DIR: 'public', AS_OF, ...environment }, root)
}

describe('an unset SOURCES', () => {
  useSmallSample()

  it('stands for the sources.json of DATA_DIR', async () => {
    const workspace = await twoInstallations()
    await writeSources(join(workspace.root, 'B'), 'b/one')
    const { code, stderr } = await runB(workspace, ['build'])
    expect(code, stderr).toBe(0)
    expect(rowsOf(await publishedCsv(workspace))).toEqual(['2025-03-01 b/one 15'])
    await rm(join(workspace.root, 'B/sources.json'))
    const again = await runB(workspace, ['reproduce'])
    expect(again).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/there is no B\/sources\.json.* data\/sources\.json/),
    })
  })

  it.each([[['build']], [['serve', '--port', '0']], [['archive', '--before', '2025-03-02']]])(
    'stops %j if DATA_DIR has no sources.json and data/ has one, and names both',
    async (words) => {
      const workspace = await twoInstallations()
      const { code, stdout, stderr } = await runB(workspace, words)
      expect(code).toBe(2)
      expect(stdout).toBe('')
      expect(stderr).toContain('there is no B/sources.json')
      expect(stderr).toContain('data/sources.json')
      expect(stderr).toContain('SOURCES')
      expect((await readdir(workspace.publicDir)).filter((name) => !name.startsWith('.'))).toEqual([])
      expect(await readdir(join(workspace.root, 'B'))).not.toContain('raw')
    },
  )

  it('builds the sample if neither folder has a sources.json, with the publisher of the project', async () => {
    const workspace = await twoInstallations()
    await rm(join(workspace.dataDir, 'sources.json'))
    await rm(join(workspace.root, 'B/publisher.json'))
    const { code, stdout, stderr } = await runB(workspace, ['build', '--dry-run', '--json'])
    expect(code, stderr).toBe(0)
    expect(stderr).toContain('there is no B/sources.json: building from SYNTHETIC sample data')
    expect(JSON.parse(stdout)).toMatchObject({ synthetic: true })
  })

  it('never builds the sample in place of a broken link', async () => {
    const workspace = await twoInstallations()
    await symlink('gone.json', join(workspace.root, 'B/sources.json'))
    const { code, stderr } = await runB(workspace, ['build'])
    expect(code).toBe(2)
    expect(stderr).toContain('there is no file B/sources.json')
  })
})

describe('SOURCES', () => {
  it('is read whatever is in the data folders, and is refused if the file is missing', async () => {
    const workspace = await twoInstallations()
    await writeSources(join(workspace.root, 'B'), 'b/one')
    const refused = await runB(workspace, ['build'], { SOURCES: 'nowhere.json' })
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('there is no file nowhere.json')])
    const { code, stderr } = await runB(workspace, ['build'], { SOURCES: 'data/sources.json' })
    expect(code, stderr).toBe(0)
    expect(rowsOf(await publishedCsv(workspace))).toEqual(['2025-03-01 a/one 15'])
  })
})
