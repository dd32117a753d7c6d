import { expect, test } from 'vitest'
import { fingerprint } from '../../server/followed-file.ts'
import { pointerPath } from '../../server/release.ts'
import { loadAhead, loadRelease } from '../../server/release-loader.ts'
import { temporaryFolder } from '../support/app.ts'
import { publish, sampleRows } from '../support/publish.ts'

async function published() {
  const publicDir = await temporaryFolder()
  const release = await publish(publicDir, sampleRows({ days: 2 }))
  return { publicDir, release }
}

const releaseOf = async (publicDir: string, stamp: string | undefined) =>
  (await loadRelease({ publicDir, stamp }).plain).manifest.release

test('a release is loaded in a thread, plain first, and then as gzip too', async () => {
  const { publicDir, release } = await published()
  const { plain, whole } = loadRelease({ publicDir })
  expect((await plain).manifest.release).toBe(release)
  expect((await whole).hasGzip).toBe(true)
})

test('what was begun ahead is given to the first who asks, and to no other', async () => {
  const { publicDir, release } = await published()
  await loadAhead(publicDir)
  const stamp = await fingerprint(pointerPath(publicDir))
  const first = loadRelease({ publicDir, stamp })
  expect(loadRelease({ publicDir, stamp })).not.toBe(first)
  expect((await first.plain).manifest.release).toBe(release)
})

test('what was begun ahead is not given when the pointer was switched since', async () => {
  const { publicDir } = await published()
  await loadAhead(publicDir)
  const newer = await publish(publicDir, sampleRows({ days: 3 }), { asOf: '2025-02-11T00:00:00Z' })
  expect(await releaseOf(publicDir, await fingerprint(pointerPath(publicDir)))).toBe(newer)
})

test('what was begun ahead for one folder is not given for another', async () => {
  const [one, other] = [await published(), await published()]
  await loadAhead(one.publicDir)
  const stamp = await fingerprint(pointerPath(one.publicDir))
  await publish(other.publicDir, sampleRows({ days: 3 }), { asOf: '2025-02-11T00:00:00Z' })
  expect(await releaseOf(other.publicDir, stamp)).toBe('20250211T000000Z')
})

test('a release that cannot be read is refused with the reason, also one that was begun ahead', async () => {
  const publicDir = await temporaryFolder()
  await publish(publicDir, sampleRows({ days: 2 }), { spoilRows: (bytes) => bytes.subarray(0, -5) })
  await loadAhead(publicDir)
  const { plain, whole } = loadRelease({ publicDir, stamp: await fingerprint(pointerPath(publicDir)) })
  await expect(plain).rejects.toThrow(/size of rankings-daily.ndjson.gz/)
  await expect(whole).rejects.toThrow(/size of rankings-daily.ndjson.gz/)
})
