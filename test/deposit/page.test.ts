/** docs/deposit.md in the order of the page, with a repository on this machine in place of Zenodo and its sandbox. */
import { readFileSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../support/folder.ts'
import { startInvenio } from '../support/invenio.ts'
import { REPOSITORY } from '../support/pipeline.ts'
import { writePublisher } from '../support/publisher.ts'
import { environment, run } from '../system/clone.ts'

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/deposit.md'), 'utf8')
/** Does what the Makefile does with these commands, without an installation. */
const MAKE = `make() {
  local command=$1 ARGS=
  shift
  for word; do local "$word"; done
  '${process.execPath}' '${join(REPOSITORY, 'pipeline/cli.ts')}' "$command" $ARGS
}
`
const BLOCKS = [...PAGE.matchAll(/^```sh\n(.*?)^```/gms)].map(([, text = '']) => text)

it('the commands of the page deposit a release', async () => {
  const [sandbox, zenodo] = [await startInvenio('of-the-sandbox'), await startInvenio('of-zenodo')]
  const folder = await temporaryFolder()
  const shell = async (script: string) => {
    const { code, stdout, stderr } = await run('bash', ['-euo', 'pipefail', '-c', MAKE + script], {
      cwd: folder,
      env: environment(),
    })
    expect(code, stderr).toBe(0)
    expect(stdout + stderr).not.toMatch(/of-the-sandbox|of-zenodo/)
    return stderr
  }
  await writeLogs(folder)
  await shell('make build')
  const said: string[] = []
  for (const block of BLOCKS) {
    said.push(await shell(onThisMachine(block, { sandbox: sandbox.url, zenodo: zenodo.url })))
    if (block.includes('touch')) await writeFile(join(folder, 'data/sandbox.token'), sandbox.token)
    // Both repositories are trials here; the page has only one of that kind.
    if (sandbox.records.get('rec-1')?.is_published) await rm(join(folder, 'data/deposits-trial.json'), { force: true })
    await writeFile(join(folder, 'data/zenodo.token'), zenodo.token)
  }
  expect(said.join('')).toContain('POST https://zenodo.org/api/records\n')
  expect(said.join('')).toMatch(
    /made a draft of 20261120T120000Z[\s\S]*deposited 20261120T120000Z[\s\S]*deposited 20261120T120000Z/,
  )
  for (const { records } of [sandbox, zenodo]) {
    const [record, ...others] = records.values()
    expect([record?.is_published, others]).toEqual([true, []])
    const csv = await readFile(join(folder, 'public/datasets/rankings-daily/v1/latest/rankings-daily.csv'))
    expect(record?.files.get('rankings-daily.csv')?.content).toEqual(csv)
  }
})

function onThisMachine(block: string, { sandbox, zenodo }: { sandbox: string; zenodo: string }): string {
  const script = block.replaceAll('https://sandbox.zenodo.org', sandbox)
  return script.replace('ARGS="--token-file data/zenodo', `ARGS="--repository ${zenodo} --token-file data/zenodo`)
}

async function writeLogs(folder: string): Promise<void> {
  await writePublisher(join(folder, 'data'))
  await mkdir(join(folder, 'data/raw'), { recursive: true })
  const sources = { sources: [{ name: 'logs', schema: 'canonical', files: ['raw/logs.ndjson'], visibility: 'public' }] }
  await writeFile(join(folder, 'data/sources.json'), JSON.stringify(sources))
  const record = {
    timestamp: '2026-11-18T12:00:00Z',
    model_permaslug: 'acme/one',
    prompt_tokens: 7,
    completion_tokens: 1,
  }
  await writeFile(join(folder, 'data/raw/logs.ndjson'), `${JSON.stringify(record)}\n`)
}
