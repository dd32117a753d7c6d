import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import type { Manifest } from '../../pipeline/contract/manifest.ts'
import { ReleaseError, readAuthors, readCurrentRelease, readTable } from '../../server/published/release.ts'
import { temporaryFolder } from '../support/app.ts'
import { FOLDER, type PublishOptions, publish, type Row, sampleRows } from '../support/publish.ts'

const rows = sampleRows({ days: 3 })

async function read(published: Row[], options: PublishOptions = {}) {
  const publicDir = await temporaryFolder()
  await publish(publicDir, published, options)
  const release = await readCurrentRelease(publicDir)
  return { manifest: release.manifest, rows: await readTable(release, 'daily') }
}

test('reads all rows and the manifest of a valid release, which may end with days without rows', async () => {
  const release = await read(rows, { endDate: '2025-01-09' })
  expect(release.rows).toEqual(rows)
  expect(release.manifest).toMatchObject({ rows: rows.length, end_date: '2025-01-09' })
})

test('takes a content hash of the canonical CSV, quotes included', async () => {
  const odd = ['a,b', 'a"b', 'a\rb', 'a b'].map((model_permaslug, i) => ({
    date: '2025-01-01',
    model_permaslug,
    total_tokens: String(9 - i),
  }))
  expect((await read(odd)).rows).toEqual(odd)
})

describe('authors', () => {
  async function readModels(options: PublishOptions) {
    const publicDir = await temporaryFolder()
    await publish(publicDir, rows, options)
    return await readAuthors(await readCurrentRelease(publicDir))
  }

  test('are those of models.csv, without models whose author is unknown', async () => {
    const models = [
      'model_permaslug,name,author,aliases',
      'a/b,"A, ""b""",Ada,"[""x"",""y""]"',
      '"c,d",,"Ben,\nInc.",[]',
      'nobody,,,[]',
      '',
    ].join('\n')
    expect(Object.fromEntries((await readModels({ models })) ?? [])).toEqual({ 'a/b': 'Ada', 'c,d': 'Ben,\nInc.' })
  })

  test('are not known without models.csv', async () => expect(await readModels({})).toBeUndefined())
})

describe('a release is refused for', () => {
  const row = (fields: Partial<Row>) => [{ date: '2025-01-01', model_permaslug: 'a', total_tokens: '1', ...fields }]
  const untilMarch = { startDate: '2025-01-01', endDate: '2025-03-01' }
  const sevenRows = {
    spoilManifest: (manifest) => Object.assign(manifest, { rows: 7 }),
    spoilPointer: (pointer) => Object.assign(pointer, { rows: 7 }),
  } satisfies PublishOptions
  const manifest = (change: (manifest: Manifest) => object): PublishOptions => ({
    spoilManifest: (whole) => Object.assign(whole, change(whole)),
  })
  const pointer = (change: object): PublishOptions => ({ spoilPointer: (whole) => Object.assign(whole, change) })

  test.each<[string, PublishOptions, RegExp, Row[]?]>([
    ['cut bytes', { spoilRows: (bytes) => bytes.subarray(0, -5) }, /size of rankings-daily.ndjson.gz is \d+, but \d+/],
    ['changed bytes', { spoilRows: (bytes) => Buffer.from(bytes).reverse() }, /sha256 of rankings-daily.ndjson.gz/],
    ['a row less than promised', sevenRows, /number of rows is 153, but 7/],
    [
      'another content hash',
      { spoilManifest: withHash, spoilPointer: withHash },
      /content_hash of the rows is sha256:[0-9a-f]+, but sha256:0+ was promised/,
    ],
    ['a pointer to other content', { spoilPointer: withHash }, /content_hash of the manifest/],
    ['a pointer of another time', pointer({ as_of: '2025-02-11T00:00:00Z' }), /as_of of the manifest/],
    ['rows out of order', {}, /not in order/, [...rows.slice(1, 2), ...rows.slice(0, 1)]],
    ['a row that is none', {}, /line 1 .* is not a ranking row/, row({ total_tokens: '1.5' })],
    ['a date that does not exist', untilMarch, /line 1/, row({ date: '2025-02-29' })],
    ['a row after the end', { endDate: '2025-01-02' }, /2025-01-03 is outside 2025-01-01 to 2025-01-02/],
    ['a row before the start', { startDate: '2025-01-02' }, /2025-01-01 is outside/],
    ['a manifest without the rows file', manifest(({ files }) => ({ files: files.slice(1) })), /does not list/],
    ['a manifest of another form', manifest(() => ({ version: 'v2' })), /manifest.json is not valid/],
    ['a pointer that leads away', pointer({ path: '../../../' }), /latest.json is not valid/],
  ])('%s', async (_name, options, message, published = rows) => {
    const reading = read(published, options)
    await expect(reading).rejects.toThrow(ReleaseError)
    await expect(reading).rejects.toThrow(message)
  })

  test('a last line that was cut, though all sums are right', async () => {
    const publicDir = await temporaryFolder()
    const text = `${JSON.stringify(rows[0])}\n${JSON.stringify(rows[1])}`
    const bytes = gzipSync(text)
    await publish(publicDir, rows.slice(0, 2), {
      spoilRows: () => bytes,
      spoilManifest: (manifest) => {
        Object.assign(manifest.files[0] ?? {}, {
          bytes: bytes.length,
          sha256: createHash('sha256').update(bytes).digest('hex'),
        })
      },
    })
    const release = await readCurrentRelease(publicDir)
    await expect(readTable(release, 'daily')).rejects.toThrow('does not end with a line ending')
  })

  test('a pointer that is no JSON', async () => {
    const publicDir = await temporaryFolder()
    await publish(publicDir, rows)
    await writeFile(join(publicDir, FOLDER, 'latest.json'), '{"release":')
    await expect(readCurrentRelease(publicDir)).rejects.toThrow(/latest.json is not valid/)
  })
})

function withHash(target: { content_hash: string }): void {
  target.content_hash = `sha256:${'0'.repeat(64)}`
}
