/**
 * Golden builds: each folder below cases/ is a test.
 *
 *   README.md      what the case shows
 *   env.json       settings of the build
 *   input/         sources.json and raw files
 *   arrange.json   optional: under which name a file of input/ is given to the build; the ending says which form it gets
 *   expected/      files of the release, byte for byte, and summary.json, facts that the build's summary must hold
 */
import { existsSync, readdirSync } from 'node:fs'
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { hashesOf } from './golden/tree.ts'
import { buildIn, newWorkspace, releaseFolder, sha256, type Workspace } from './support/pipeline.ts'
import { compress, writeRecords } from './support/records.ts'

vi.mock('../pipeline/base/code.ts', async (load) => {
  const { FIXED_CODE } = await import('./golden/fixed.ts')
  return { ...(await load<object>()), ...FIXED_CODE }
})

const CASES = join(import.meta.dirname, 'cases')

const Env = z.strictObject({ AS_OF: z.string() })
const Arrangement = z.record(z.string(), z.string())

async function readJson(path: string): Promise<unknown> {
  return JSON.parse(await readFile(path, 'utf8'))
}

/** Copies the case's input into the workspace and gives its files the names and forms of arrange.json. */
async function arrangeInput(folder: string, workspace: Workspace): Promise<void> {
  await cp(join(folder, 'input'), workspace.input, { recursive: true })
  const arrangement = join(folder, 'arrange.json')
  if (!existsSync(arrangement)) return
  for (const [from, to] of Object.entries(Arrangement.parse(await readJson(arrangement)))) {
    const text = await readFile(join(workspace.input, from), 'utf8')
    await rm(join(workspace.input, from))
    const path = join(workspace.input, to)
    await mkdir(dirname(path), { recursive: true })
    if (to.endsWith('.parquet')) await writePlainCsvAsParquet(path, text)
    else await writeFile(path, compress(to, text))
  }
}

/** For CSV without quotes. */
async function writePlainCsvAsParquet(path: string, csv: string): Promise<void> {
  const [columns = [], ...records] = csv
    .trimEnd()
    .split('\n')
    .map((line) => line.split(','))
  const named = records.map((fields) =>
    Object.fromEntries(columns.map((column, index) => [column, fields[index] ?? ''])),
  )
  await writeRecords(path, named, { columns, typedColumns: true })
}

describe('golden builds', () => {
  const names = readdirSync(CASES, { withFileTypes: true }).filter((entry) => entry.isDirectory())

  it.each(names.map((entry) => entry.name))('%s', async (name) => {
    const folder = join(CASES, name)
    const workspace = await newWorkspace()
    await arrangeInput(folder, workspace)
    const { AS_OF } = Env.parse(await readJson(join(folder, 'env.json')))

    const summary = await buildIn(workspace, AS_OF)

    const published = await releaseFolder(workspace)
    const expected = (await readdir(join(folder, 'expected'))).filter((file) => file !== 'summary.json')
    expect(expected).toContain('rankings-daily.csv')
    expect(await readdir(published)).toEqual(expect.arrayContaining(expected))
    for (const file of expected) {
      expect(await readFile(join(published, file), 'utf8'), file).toBe(
        await readFile(join(folder, 'expected', file), 'utf8'),
      )
    }
    const facts = z.looseObject({}).parse(await readJson(join(folder, 'expected/summary.json')))
    expect(summary).toMatchObject({ outcome: 'released', ...facts })
    // The whole published folder: see `make golden`.
    expect(sha256(await hashesOf(workspace.publicDir))).toMatchSnapshot()
  })

  it.each(names.map((entry) => entry.name))('%s has a README with a title and its origin', async (name) => {
    const readme = await readFile(join(CASES, name, 'README.md'), 'utf8')
    expect(readme).toMatch(/^# \S/)
    expect(readme).toContain('Origin: ')
  })
})
