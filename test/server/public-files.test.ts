import { createHash } from 'node:crypto'
import { chmod, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { expect, test, vi } from 'vitest'
import { publicFiles } from '../../server/published/public-files.ts'
import { temporaryFolder } from '../support/app.ts'
import { FOLDER, publish, sampleRows } from '../support/publish.ts'

const log = { warn: () => {} }

async function site() {
  const parent = await temporaryFolder()
  const root = join(parent, 'public')
  for (const folder of ['public/docs', 'public/.git', 'outside']) await mkdir(join(parent, folder), { recursive: true })
  const files = ['public/data.csv', 'public/docs/index.html', 'public/.hidden', 'public/.git/config']
  for (const path of [...files, 'secret.txt', 'outside/secret.txt', 'outside/index.html']) {
    await writeFile(join(parent, path), path)
  }
  await symlink('../secret.txt', join(root, 'escape.txt'))
  await symlink(join(parent, 'secret.txt'), join(root, 'absolute'))
  await symlink('escape.txt', join(root, 'chain'))
  await symlink('../outside', join(root, 'escape'))
  await symlink('.hidden', join(root, 'to-hidden'))
  await symlink('loop', join(root, 'loop'))
  await symlink('docs', join(root, 'latest'))
  return { root, files: readable(root) }
}

/** The files below `root`, all of which this user may read. */
function readable(root: string) {
  const files = publicFiles(root, log)
  return {
    find: files.find,
    async open(path: string, wishesGzip?: boolean) {
      const file = await files.open(path, wishesGzip)
      if (file === undefined) throw new Error(`${path} may not be read`)
      return file
    },
  }
}

test('finds nothing at a path that is missing, hidden, or out of the folder, however it is written', async () => {
  const { files } = await site()
  const missing = ['/missing.csv', '/data.csv/', '/data.csv/more', '/', `/${'x'.repeat(300)}`]
  const above = ['/../secret.txt', '/%2e%2e/secret.txt', '/docs/..%2f..%2fsecret.txt', '/docs/../../secret.txt']
  const odd = ['/docs/../data.csv', '/..%5csecret.txt', '//data.csv', '/docs//index.html', '/./data.csv', '/data.csv%']
  const ups = ['%252e%252e', '%c0%ae%c0%ae', '%u002e%u002e', '..;', '..%00', '%ef%bc%8e.']
  const disguised = ups.map((up) => `/docs/${up}/${up}/secret.txt`)
  const hidden = ['/.hidden', '/.git/config', '/%2ehidden', '/data.csv%00.html', '/to-hidden']
  const links = ['/escape.txt', '/escape/secret.txt', '/escape/', '/escape', '/absolute', '/chain', '/loop']
  for (const path of [...missing, ...above, ...odd, ...disguised, ...hidden, ...links]) {
    expect(await files.find(path), path).toEqual({ kind: 'nothing' })
  }
})

test('finds files with spaces, percent signs and other letters in their names, also through a link to PUBLIC_DIR', async () => {
  const { root, files } = await site()
  await writeFile(join(root, 'docs', 'a b%25 ü.csv'), '')
  const name = encodeURIComponent('a b%25 ü.csv')
  expect(await files.find(`/docs/${name}`)).toMatchObject({ kind: 'file' })
  expect(await files.find(`/latest/${name}`)).toMatchObject({ location: `/docs/${name}` })
  await symlink(root, `${root}-link`)
  expect(await publicFiles(`${root}-link`, log).find('/data.csv')).toMatchObject({ kind: 'file' })
  expect(await publicFiles(`${root}-none`, log).find('/data.csv')).toEqual({ kind: 'nothing' })
})

test('keeps reading an open file when another takes its name', async () => {
  const { root, files } = await site()
  const open = await files.open(join(root, 'data.csv'))
  await writeFile(join(root, 'new'), 'something else')
  await rename(join(root, 'new'), join(root, 'data.csv'))
  expect((await buffer(open.handle.createReadStream({ start: 0 }))).toString()).toBe('public/data.csv')
  const reopened = await files.open(join(root, 'data.csv'))
  expect(reopened.etag).not.toBe(open.etag)
  await reopened.handle.close()
})

test('takes the tag of a release file from its manifest, unless the size differs', async () => {
  const { root, files } = await site()
  const listed = '0123456789abcdef'.repeat(4)
  const release = await publish(root, sampleRows({ days: 1 }), {
    spoilManifest: (manifest) => {
      for (const file of manifest.files) file.sha256 = listed
    },
  })
  const tagOf = async (name: string) => {
    const { handle, etag } = await files.open(join(root, FOLDER, 'releases', release, name))
    await handle.close()
    return etag
  }
  expect(await tagOf('rankings-daily.csv')).toBe(`"sha256-${listed}"`)
  expect(await tagOf('manifest.json')).not.toBe(`"sha256-${listed}"`)
  await writeFile(join(root, FOLDER, 'releases', release, 'rankings-daily.csv'), 'of another size')
  expect(await tagOf('rankings-daily.csv')).toBe(
    `"sha256-${createHash('sha256').update('of another size').digest('hex')}"`,
  )
})

test.each(['', '{"release":', '{}'])('makes the tag from the bytes when the manifest is "%s"', async (manifest) => {
  const { root, files } = await site()
  const release = await publish(root, sampleRows({ days: 1 }))
  const folder = join(root, FOLDER, 'releases', release)
  const before = await files.open(join(folder, 'rankings-daily.csv'))
  if (manifest === '') await rm(join(folder, 'manifest.json'))
  else await writeFile(join(folder, 'manifest.json'), manifest)
  const after = await readable(root).open(join(folder, 'rankings-daily.csv'))
  expect(after.etag).toBe(before.etag)
  for (const { handle } of [before, after]) await handle.close()
})

test('makes the tag from the bytes alone, even for a file larger than one read', async () => {
  const { root, files } = await site()
  for (const name of ['a', 'b']) await writeFile(join(root, name), 'x'.repeat(1_000_000))
  const [a, b] = [await files.open(join(root, 'a')), await files.open(join(root, 'b'))]
  expect(a.etag).toMatch(/^"sha256-[0-9a-f]{64}"$/)
  expect(b.etag).toBe(a.etag)
  await a.handle.close()
  await b.handle.close()
})

test('a release that has lost one data file was not dropped; one without any was', async () => {
  const { root, files } = await site()
  const release = await publish(root, sampleRows({ days: 1, models: 1 }))
  await writeFile(join(root, FOLDER, 'history.parquet'), 'PAR1')
  const path = `/${FOLDER}/releases/${release}/rankings-daily.csv`
  await rm(join(root, path))
  expect(await files.find(path)).toEqual({ kind: 'nothing' })
  await rm(join(root, FOLDER, 'releases', release, 'rankings-daily.ndjson.gz'))
  expect(await files.find(path)).toMatchObject({ kind: 'dropped', file: { release } })
})

/** Runs `work` as a user whom modes bind; they do not bind root. */
async function asNobody<Result>(work: () => Promise<Result>): Promise<Result> {
  const isRoot = process.geteuid?.() === 0
  if (isRoot) process.seteuid?.(65_534)
  try {
    return await work()
  } finally {
    if (isRoot) process.seteuid?.(0)
  }
}

test('finds nothing that this user may not read, and logs each path once', async () => {
  const { root } = await site()
  await chmod(join(root, '..'), 0o755)
  await chmod(join(root, 'data.csv'), 0)
  await chmod(join(root, 'docs'), 0)
  const warn = vi.fn()
  const files = publicFiles(root, { warn })
  await asNobody(async () => {
    for (let round = 0; round < 2; round++) {
      expect(await files.find('/docs/index.html')).toEqual({ kind: 'nothing' })
      expect(await files.open(join(root, 'data.csv'))).toBeUndefined()
    }
  })
  expect(warn.mock.calls.map(([{ path }]) => path)).toEqual([join(root, 'docs/index.html'), join(root, 'data.csv')])
})

test('opens a file without a compressed form that this user may not read', async () => {
  const { root } = await site()
  await chmod(join(root, '..'), 0o755)
  const page = join(root, 'docs/index.html')
  await writeFile(`${page}.gz`, gzipSync('public/docs/index.html'))
  const warn = vi.fn()
  const files = publicFiles(root, { warn })
  const whole = await files.open(page, true)
  await whole?.handle.close()
  expect(whole?.coding).toBe('gzip')
  await chmod(`${page}.gz`, 0)
  const plain = await asNobody(() => files.open(page, true))
  await plain?.handle.close()
  expect(plain).toMatchObject({ path: page, hasOther: false })
  expect(plain?.coding).toBeUndefined()
  expect(warn.mock.calls.map(([{ path }]) => path)).toEqual([`${page}.gz`])
})
