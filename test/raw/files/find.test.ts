import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { CliError } from '../../../pipeline/base/errors.ts'
import { findInputFiles, isUnlisted } from '../../../pipeline/raw/files/find.ts'
import { Source } from '../../../pipeline/raw/sources.ts'
import {
  AS_OF,
  buildIn,
  newWorkspace,
  runProcess,
  settings,
  type Workspace,
  writeInput,
} from '../../support/pipeline.ts'

async function withFiles(files: string[]): Promise<Workspace> {
  const workspace = await newWorkspace()
  const source = { name: 'bucket', schema: 'canonical', files, visibility: 'public' }
  await writeInput(workspace, 'sources.json', { sources: [source] })
  return workspace
}

describe('the files of a source', () => {
  it('cannot be URLs such as https://example.org/a.csv', async () => {
    const failed = buildIn(await withFiles(['https://example.org/a.csv']))
    await expect(failed).rejects.toThrow(CliError)
    await expect(failed).rejects.toThrow('copy new files to this machine first, and name the copies')
  })

  it('cannot be folders of a bucket', async () => {
    const failed = buildIn(await withFiles(['s3://logs/gateway/']))
    await expect(failed).rejects.toThrow(CliError)
    await expect(failed).rejects.toThrow(
      'source "bucket": "s3://logs/gateway/" is a folder; name its files, such as "s3://logs/gateway/**/*.csv"',
    )
  })

  it('cannot be objects if httpfs is not installed: one sentence says how to install it, or what to copy', async () => {
    const workspace = await withFiles(['s3://logs/gateway/2025-*.csv'])
    const { code, stderr } = await runProcess(['build'], { ...settings(workspace, AS_OF), HOME: workspace.root })
    expect(code).toBe(2)
    expect(stderr).toContain('source "bucket": "s3://logs/gateway/2025-*.csv" is in a bucket')
    expect(stderr).toContain('download it once with make httpfs')
    expect(stderr).toContain('or copy new objects to this machine first with aws s3 sync s3://logs/gateway/ raw/')
    expect(stderr.trim().split('\n')).toHaveLength(1)
  })
})

describe('objects of buckets', () => {
  const read = (files: string[]): Source => Source.parse({ name: 'bucket', schema: 'canonical', files })

  it('have URLs as names and copies as paths', async () => {
    const workspace = await newWorkspace()
    const urls = ['s3://logs/a[1]?.csv', 's3://logs/b/c.ndjson.gz', 's3://logs/other.csv']
    const paths = new Map(urls.map((url, index) => [url, join(workspace.root, 'copies', `${index}`)]))
    await mkdir(join(workspace.root, 'copies'))
    for (const path of paths.values()) await writeFile(path, 'x')
    const source = read(['s3://logs/b/**', 's3://logs/a[1]?.csv', 's3://logs/none/*.csv', 's3://logs/gone.csv'])
    const objects = { paths, tidy: async () => {} }
    const { files, unmatched, missing: absent } = await findInputFiles(source, { folder: workspace.input, objects })
    expect(files.map(({ name, path, format, compression }) => [name, path, format, compression])).toEqual([
      ['s3://logs/a[1]?.csv', paths.get('s3://logs/a[1]?.csv'), 'csv', 'uncompressed'],
      ['s3://logs/b/c.ndjson.gz', paths.get('s3://logs/b/c.ndjson.gz'), 'ndjson', 'gzip'],
    ])
    expect(unmatched).toEqual(['s3://logs/none/*.csv'])
    expect(absent).toEqual(['s3://logs/gone.csv'])
  })

  it('are missing if an entry still matches them, and unlisted otherwise', async () => {
    const source = read(['s3://logs/b/**'])
    expect(await isUnlisted('s3://logs/b/c.csv', source, '/')).toBe(false)
    expect(await isUnlisted('s3://logs/a.csv', source, '/')).toBe(true)
  })
})
