/**
 * Raw files of products as a user gets them, and what the product itself would count: test/schemas/SCHEMA/.
 *
 *   source.json     optional: further settings of the source, or a list of them for several sources
 *   expected.json   rows of the dataset ("DATE MODEL TOKENS"), records left out, rejected and counted twice, and the parts
 *                   of the tokens of each source and date, with the product's own total
 *   *               raw files; a source reads all of them unless it names its own
 */
import { existsSync, readdirSync } from 'node:fs'
import { cp, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { buildIn, newWorkspace, publishedCsv, REPOSITORY, writeInput } from '../../support/pipeline.ts'
import { unreadable } from '../../support/schemas.ts'
import { partsIn } from '../../support/token-parts.ts'

const FOLDER = join(REPOSITORY, 'test/schemas')
const OWN_FILES = ['source.json', 'expected.json']

async function readJson(path: string): Promise<object> {
  return existsSync(path) ? JSON.parse(await readFile(path, 'utf8')) : {}
}

describe('files of a product', () => {
  it.each(readdirSync(FOLDER))('%s give the tokens that the product counts', async (schema) => {
    const workspace = await newWorkspace()
    await cp(join(FOLDER, schema), workspace.input, { recursive: true })
    const files = readdirSync(join(FOLDER, schema)).filter((name) => !OWN_FILES.includes(name))
    const settings = await readJson(join(FOLDER, schema, 'source.json'))
    const sources = [settings].flat().map((own, index) => {
      return { name: `${schema} ${index}`, schema, files, visibility: 'public', ...own }
    })
    await writeInput(workspace, 'sources.json', { max_rejected_share: 1, sources })

    const { records } = await buildIn(workspace, '2026-10-31T12:00:00Z', {}, { accept: unreadable(files) })

    const [, ...rows] = (await publishedCsv(workspace)).trimEnd().split('\n')
    const parts = await partsIn(
      workspace,
      sources.map(({ name }) => name),
    )
    const { left_out, rejected, duplicates, token_parts_disagree } = records
    expect({
      rows: rows.map((row) => row.replaceAll(',', ' ')),
      left_out,
      rejected,
      duplicates,
      token_parts_disagree,
      parts,
    }).toEqual(await readJson(join(FOLDER, schema, 'expected.json')))
  })
})
