/** `models.csv` as builds publish it, and its proof. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { toChecksums } from '../../pipeline/base/checksums.ts'
import { Manifest } from '../../pipeline/contract/manifest.ts'
import { verify } from '../../pipeline/publication/verify.ts'
import {
  buildIn,
  createWorkspace,
  releaseFolder,
  removeWorkspace,
  sha256,
  type Workspace,
  writeSmallBuild,
} from '../support/pipeline.ts'

let workspace: Workspace
let folder: string

const prove = () => verify(workspace.publicDir, { signal: new AbortController().signal, report: () => {} })

/** Puts another text into the file, and seals release and index again, as someone would who knows how. */
async function forge(change: (text: string) => string): Promise<void> {
  const path = join(folder, 'models.csv')
  const text = change(await readFile(path, 'utf8'))
  await writeFile(path, text)
  const manifest = Manifest.parse(JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8')))
  const facts = { bytes: Buffer.byteLength(text), sha256: sha256(text) }
  const files = manifest.files.map((file) => (file.path === 'models.csv' ? { ...file, ...facts } : file))
  const sealed = JSON.stringify({ ...manifest, files })
  await writeFile(join(folder, 'manifest.json'), sealed)
  await writeFile(
    join(folder, 'SHA256SUMS'),
    toChecksums([...files, { path: 'manifest.json', sha256: sha256(sealed) }]),
  )
}

describe('models.csv of a release', () => {
  beforeAll(async () => {
    workspace = await createWorkspace()
    await writeSmallBuild(workspace, {
      models: [
        { model_permaslug: 'acme/one', aliases: ['one-alias'], name: 'Acme One', author: 'Acme' },
        { model_permaslug: 'acme/secret', aliases: ['secret-alias'], public: false, name: 'Hidden name' },
      ],
      sources: [
        {
          settings: { visibility: 'registry' },
          records: [
            { model_permaslug: 'one-alias', prompt_tokens: '100' },
            { model_permaslug: 'acme/one:free', prompt_tokens: '7' },
            // A record's own visibility wins over that of its model: its usage is public, its names are not.
            { model_permaslug: 'acme/secret', prompt_tokens: '50', visibility: 'public' },
          ],
        },
      ],
    })
    await buildIn(workspace)
    folder = await releaseFolder(workspace)
    return () => removeWorkspace(workspace)
  })

  it('names each model that the rows name, with what the registry knows of public ones', async () => {
    expect(await readFile(join(folder, 'models.csv'), 'utf8')).toBe(
      [
        'model_permaslug,name,author,aliases,first_date,last_date,days,best_rank,best_rank_date,total_tokens',
        'acme/one,Acme One,Acme,"[""one-alias""]",2025-03-02,2025-03-02,1,1,2025-03-02,100',
        'acme/secret,,,[],2025-03-02,2025-03-02,1,2,2025-03-02,50',
        'acme/one:free,Acme One (free),Acme,[],2025-03-02,2025-03-02,1,3,2025-03-02,7',
        '',
      ].join('\n'),
    )
  })

  it('is listed and described with its rows', async () => {
    const manifest = JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8'))
    expect(manifest.files).toContainEqual(expect.objectContaining({ path: 'models.csv', rows: 3 }))
    const { resources } = JSON.parse(await readFile(join(folder, 'datapackage.json'), 'utf8'))
    const described = resources.find(({ path }: { path: string }) => path === 'models.csv')
    expect(described).toMatchObject({ rows: 3, schema: { primaryKey: ['model_permaslug'], missingValues: [''] } })
  })

  it('is proved', async () => expect((await prove()).releases).toBe(1))

  it.each<[string, (text: string) => string, RegExp]>([
    ['another best rank', (text) => text.replace('1,2,2025', '1,1,2025'), /models\.csv does not follow from the rows/],
    ['a model too few', (text) => text.split('\n').toSpliced(3, 1).join('\n'), /does not follow from the rows/],
    ['aliases that are no list', (text) => text.replace('[]', 'x'), /aliases: must be an array of texts in JSON/],
  ])('is not proved with %s, though it is sealed', async (_, change, message) => {
    const path = join(folder, 'models.csv')
    const before = await readFile(path, 'utf8')
    await forge(change)
    await expect(prove()).rejects.toThrow(message)
    await forge(() => before)
    expect(await readFile(path, 'utf8')).toBe(before)
  })
})
