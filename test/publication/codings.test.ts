/** The compressed forms beside published texts, and pages that go with theirs. */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { LARGEST_CODED, SMALLEST_CODED } from '../../pipeline/contract/codings.ts'
import { codingsIn, wrongCodings } from '../support/codings.ts'
import { copyWorkspace, createWorkspace, removeWorkspace, snapshotTree, type Workspace } from '../support/pipeline.ts'
import { release, verifyFolder } from '../support/releases.ts'

const DATASET = 'datasets/rankings-daily/v1'

let one: Workspace

beforeAll(async () => {
  one = await createWorkspace()
  await release(one, [['2025-03-01', 1], ['2025-03-02', 5]], '2025-03-10T10:00:00Z') // biome-ignore format: rows
})

afterAll(() => removeWorkspace(one))

it('has compressed forms of pages, styles, scripts and pointers that they make shorter, and of nothing else', async () => {
  const forms = await codingsIn(one.publicDir)
  expect(await wrongCodings(one.publicDir)).toEqual([])
  for (const path of ['index.html', 'assets/site.css', 'catalog.json', `${DATASET}/croissant.json`]) {
    expect(forms).toContain(`${path}.gz`)
  }
  expect(forms.filter((path) => /\/(releases|latest|daily|monthly)\//.test(path))).toEqual([])
  for (const form of forms) {
    const [text, coded] = [await sizeOf(form.replace(/\.[^.]+$/, '')), await sizeOf(form)]
    expect(coded, form).toBeLessThan(text)
    expect(text, form).toBeGreaterThanOrEqual(SMALLEST_CODED)
    expect(text, form).toBeLessThanOrEqual(LARGEST_CODED)
  }
})

const sizeOf = async (path: string) => (await readFile(join(one.publicDir, path))).length

it('the forms follow their texts to the next release: new, made again if they were lost, and gone with their page', async () => {
  const workspace = await copyWorkspace(one)
  const { publicDir } = workspace
  const before = await codingsIn(publicDir)
  const old = await snapshotTree(publicDir)
  const lost = 'assets/site.css.gz'
  await rm(join(publicDir, lost))
  // Verify misses none.
  await verifyFolder(publicDir)
  await mkdir(join(publicDir, 'models/acme'), { recursive: true })
  for (const page of ['models/gone.html', 'models/acme/gone.html']) {
    await writeFile(join(publicDir, page), 'old')
    await writeFile(join(publicDir, `${page}.gz`), gzipSync('old'))
  }
  await release(workspace, [['2025-03-01', 1], ['2025-03-02', 7]], '2025-03-10T11:00:00Z') // biome-ignore format: rows
  expect(await wrongCodings(publicDir)).toEqual([])
  const left = await snapshotTree(publicDir)
  expect(left[lost]).toBe(old[lost])
  expect(Object.keys(left).filter((path) => path.includes('gone'))).toEqual([])
  const kept = before.filter((form) => left[form] !== undefined)
  expect(kept.length).toBeGreaterThan(5)
  const textOf = (form: string) => form.replace(/\.[^.]+$/, '')
  for (const form of kept) expect(left[form] === old[form], form).toBe(left[textOf(form)] === old[textOf(form)])
})

it.each([
  ['of another text', 'index.html.gz', gzipSync('<!doctype html>')],
  ['that is cut', 'index.html.gz', Buffer.from([0x1f, 0x8b])],
  ['of a file of data', 'catalog.json.gz', gzipSync('{}')],
])('verify names a form %s', async (_what, path, bytes) => {
  const { publicDir } = await copyWorkspace(one)
  await writeFile(join(publicDir, path), bytes)
  await expect(verifyFolder(publicDir)).rejects.toThrow(`${join(publicDir, path)} is not ${path.replace(/\.\w+$/, '')}`)
})
