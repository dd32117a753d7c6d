/** What an earlier version left is refused; settings, keys and the store are not asked. */
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { FORMS, hasOtherForms } from '../../pipeline/contract/forms.ts'
import {
  buildAndListen,
  buildIn,
  releaseFolder,
  runCli,
  settings,
  type Workspace,
  workspaceOf,
  writeInput,
} from '../support/pipeline.ts'

const AS_OF = ['2025-03-10T12:00:00Z', '2025-03-11T12:00:00Z'] as const

/** A workspace with a release, as version 0.16.0 would have left it. */
async function builtBefore(): Promise<Workspace> {
  const record = 'timestamp,model_permaslug,prompt_tokens,completion_tokens\n2025-03-01T12:00:00Z,m,1,0\n'
  const workspace = await workspaceOf({ 'a.csv': record }, {}, { disclosure: 'none' })
  await buildIn(workspace, AS_OF[0])
  const manifest = join(await releaseFolder(workspace), 'manifest.json')
  await writeFile(manifest, (await readFile(manifest, 'utf8')).replace(`"version": "${FORMS}"`, '"version": "0.16.0"'))
  await rm(join(workspace.dataDir, 'forms.json'))
  await rm(join(workspace.dataDir, 'ledger'), { recursive: true })
  return workspace
}

it('lists what is there, and makes everything anew once it is moved', async () => {
  const workspace = await builtBefore()
  const { dataDir, publicDir, root } = workspace
  const refused = buildIn(workspace, AS_OF[1])
  await expect(refused).rejects.toThrow(
    `an earlier version of Tokenboard made this, in forms that this version does not read:\n  ${publicDir}: releases of ` +
      `Tokenboard 0.16.0\n  ${join(dataDir, 'state')}\n  ${join(dataDir, 'provenance')}\nMove them elsewhere and build again`,
  )
  for (const command of [
    ['withdraw', '20250310T120000Z', '--reason', 'wrong'],
    ['archive', '--before', '2025-03-02'],
    ['verify'],
  ]) {
    const { code, stderr } = await runCli(command, settings(workspace, AS_OF[1]))
    expect([code === 0, stderr], command.join()).toEqual([
      false,
      expect.stringContaining('an earlier version of Tokenboard'),
    ])
  }
  for (const folder of [publicDir, join(dataDir, 'state'), join(dataDir, 'provenance')])
    await rename(folder, join(root, `before-${folder.split('/').at(-1)}`))
  expect(await buildIn(workspace, AS_OF[1])).toMatchObject({ outcome: 'released', data_version: '1.0.0' })
})

it('goes on without archived or frozen dates only when that is accepted, and keeps them aside', async () => {
  const workspace = await builtBefore()
  const { dataDir, publicDir, root } = workspace
  await writeInput(workspace, '../data/archive/dates/2025-03-01/archive.json', { version: 4 })
  await writeInput(workspace, '../data/disclosure/dates.ndjson', '{"version":1}\n')
  await expect(buildIn(workspace, AS_OF[1])).rejects.toThrow(
    /archive has archived dates.*; .*disclosure has dates.*--accept lost_history/,
  )
  const accepted = { accept: ['lost_history'] }
  await expect(buildIn(workspace, AS_OF[1], {}, accepted)).rejects.toThrow('releases of Tokenboard 0.16.0')
  expect(await readdir(dataDir)).not.toContain('lost-history')
  await rename(publicDir, join(root, 'before'))
  await writeInput(workspace, '../data/forms.json', { forms: '1.0.0-alpha.0' })
  await expect(buildIn(workspace, AS_OF[1], {}, { ...accepted, dryRun: true })).rejects.toThrow('lost_history')
  const { summary, notices } = await buildAndListen(workspace, AS_OF[1], accepted)
  expect(summary.outcome).toBe('released')
  const folders = ['state', 'provenance', 'archive', 'disclosure']
  expect(notices[0]).toBe(`moved to ${join(dataDir, 'lost-history')}: ${folders.join(', ')}`)
  expect((await readdir(join(dataDir, 'lost-history'))).sort()).toEqual(folders.toSorted())
})

it.each([
  ['0.16.0', true],
  ['1.0.0-alpha.0', true],
  [FORMS, false],
  ['1.0.0-alpha.10', false],
  ['1.0.0', false],
  ['2.3.4', false],
])('version %s has other forms: %s', (version, expected) => {
  expect(hasOtherForms(version)).toBe(expected)
})
