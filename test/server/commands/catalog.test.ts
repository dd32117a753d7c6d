import { spawn } from 'node:child_process'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { BuildError, CliError } from '../../../pipeline/base/errors.ts'
import { catalog } from '../../../pipeline/commands/catalog.ts'
import type { EmbeddingsModel } from '../../../server/schemas/embeddings-model.ts'
import { embeddingsCatalogue } from '../../../server/store/embeddings-models.ts'
import { openStore } from '../../../server/store/store.ts'
import { temporaryFolder } from '../../support/app.ts'
import { tryCommand } from '../../support/command.ts'
import { someModel, someModels } from '../../support/embeddings-models.ts'

const SHIPPED = join(import.meta.dirname, '../../../data/embeddings-models.json')

let folder: string
let dataDir: string
beforeEach(async () => {
  folder = await temporaryFolder()
  dataDir = join(folder, 'data')
  vi.stubEnv('DATA_DIR', dataDir)
  vi.stubEnv('DATABASE_URL', '')
})

const run = (...words: string[]) => tryCommand(catalog, words)

/** Runs `tokenboard catalog …` as a process of its own. */
async function runProcess(words: string[], input = '') {
  const child = spawn(process.execPath, ['pipeline/cli.ts', 'catalog', ...words], {
    env: { DATA_DIR: dataDir },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  child.stdin.end(input)
  const exit = new Promise<number | null>((resolve) => child.on('exit', resolve))
  const [code, stdout, stderr] = await Promise.all([exit, text(child.stdout), text(child.stderr)])
  return { code, stdout, stderr }
}

async function fileWith(content: unknown, name = 'catalogue.json'): Promise<string> {
  const path = join(folder, name)
  await writeFile(path, typeof content === 'string' || Buffer.isBuffer(content) ? content : JSON.stringify(content))
  return path
}

async function stored(): Promise<{ revision: number; models: EmbeddingsModel[] }> {
  const store = await openStore(`sqlite:${dataDir}/store.sqlite`)
  const { revision, entries } = await embeddingsCatalogue(store).current()
  await store.close()
  return { revision, models: entries.map((entry) => JSON.parse(entry)) }
}

async function copy(): Promise<EmbeddingsModel[]> {
  return JSON.parse(await readFile(join(dataDir, 'embeddings-models.json'), 'utf8'))
}

describe('import', () => {
  test('replaces the catalogue in the store and its copy in DATA_DIR', async () => {
    await run('import', await fileWith(someModels(5)))
    const { error, stdout, stderr } = await run('import', await fileWith(someModels(3)))
    expect(error).toBeUndefined()
    expect(stdout).toBe('')
    expect(stderr).toBe(`imported 3 models into the store and ${join(dataDir, 'embeddings-models.json')}\n`)
    expect((await stored()).models).toEqual(someModels(3))
    expect(await copy()).toEqual(someModels(3))
    expect((await readdir(dataDir)).toSorted()).toEqual(['embeddings-models.json', 'store.sqlite'])
  })

  test('reads an answer of the API, a file with a byte order mark, and the copy itself', async () => {
    await run('import', await fileWith({ data: someModels(2), links: { next: null }, total_count: 2 }))
    expect((await stored()).models).toEqual(someModels(2))
    await run('import', await fileWith(`\uFEFF${JSON.stringify(someModels(3))}`))
    expect((await stored()).models).toEqual(someModels(3))
    const { error } = await run('import', join(dataDir, 'embeddings-models.json'))
    expect(error).toBeUndefined()
    expect(await stored()).toEqual({ revision: 3, models: someModels(3) })
  })

  test('names entry and field of a wrong entry, and changes nothing', async () => {
    await run('import', await fileWith(someModels(3)))
    const before = [await stored(), await copy()]
    const { created: _, ...undated } = someModel({ id: 'acme/undated' })
    const entries = [someModel(), undated, someModel({ name: '' })]
    const file = await fileWith(
      `[${entries.map((entry) => JSON.stringify(entry)).join(',\n')}]`.replace('"name":""', '\n"name":""'),
    )
    const { error, stdout } = await run('import', file)
    expect(error).toBeInstanceOf(BuildError)
    expect((error as BuildError).message.split('\n')).toEqual([
      `${file} is not a valid catalogue; nothing was changed:`,
      '  line 2: [1] acme/undated: created is missing',
      '  line 4: [2] acme/embed-1: name must not be empty',
      '  line 3: [2] acme/embed-1: id is that of [0] too',
    ])
    expect(stdout).toBe('')
    expect([await stored(), await copy()]).toEqual(before)
  })

  test('prints one object with --json, even for problems', async () => {
    const done = await run('import', await fileWith(someModels(3)), '--json')
    expect(JSON.parse(done.stdout)).toEqual({ models: 3, file: join(dataDir, 'embeddings-models.json') })
    const file = await fileWith([someModel({ created: -1 })], 'wrong.json')
    const failed = await run('import', file, '--json')
    expect(failed.error).toBeInstanceOf(BuildError)
    const problems = [{ index: 0, id: 'acme/embed-1', path: 'created', message: 'must be at least 0' }]
    expect(JSON.parse(failed.stdout)).toEqual({ file, problems, problem_count: 1 })
  })

  test('reports a copy in DATA_DIR that could not be written', async () => {
    await mkdir(join(dataDir, 'embeddings-models.json'), { recursive: true })
    const { error } = await run('import', await fileWith(someModels(1)))
    expect(error).toBeInstanceOf(BuildError)
    expect((error as BuildError).message).toMatch(
      /^the store holds the new catalogue, but .*embeddings-models\.json cannot be written: .*; import it again$/,
    )
    expect((await stored()).models).toEqual(someModels(1))
    expect((await readdir(dataDir)).filter((name) => name.endsWith('.partial'))).toEqual([])
  })

  test('leaves the same catalogue in the store and its copy when two processes import at once', async () => {
    const files = [await fileWith(someModels(1), 'one.json'), await fileWith(someModels(2), 'two.json')]
    const results = await Promise.all(files.map((file) => runProcess(['import', file])))
    expect(results.map(({ code }) => code)).toEqual([0, 0])
    const { revision, models } = await stored()
    expect(revision).toBe(2)
    expect(await copy()).toEqual(models)
  })
})

describe('export', () => {
  test('writes what import reads, with the same entries, key order and texts', async () => {
    const { id, pricing, ...rest } = someModel()
    const odd = { zeta: [1, { y: null, x: '"' }], pricing: { web_search: '0', ...pricing }, ...rest, id: 'acme/odd' }
    await run('import', await fileWith([{ ...someModel(), id, pricing }, odd]))
    const [first, second] = [join(folder, 'first.json'), join(folder, 'second.json')]
    await run('export', first)
    expect(JSON.stringify(JSON.parse(await readFile(first, 'utf8')))).toBe(
      JSON.stringify([{ ...someModel(), id, pricing }, odd]),
    )
    await run('import', first)
    await run('export', second)
    expect(await readFile(second)).toEqual(await readFile(first))
    expect(await readFile(join(dataDir, 'embeddings-models.json'))).toEqual(await readFile(first))
  })

  test('writes to stdout without a file or for -, and the summary to stderr', async () => {
    for (const models of [someModels(1), []]) {
      await run('import', await fileWith(models))
      for (const words of [['export'], ['export', '-']]) {
        const { stdout, stderr } = await run(...words)
        expect(stdout).toBe(`${JSON.stringify(models, null, 2)}\n`)
        expect(stderr).toBe(`exported ${models.length === 1 ? '1 model' : '0 models'} to stdout\n`)
      }
    }
  })

  test('writes the shipped catalogue of a new store, byte for byte', async () => {
    const file = join(folder, 'out', 'exported.json')
    const { stdout, stderr } = await run('export', file, '--json')
    expect(await readFile(file)).toEqual(await readFile(SHIPPED))
    expect(JSON.parse(stdout)).toEqual({ models: 22, file })
    expect(stderr).toBe(`exported 22 models to ${file}\n`)
  })

  test('refuses --json without a file, and names a file that cannot be written', async () => {
    expect((await run('export', '--json')).error).toBeInstanceOf(CliError)
    const { error } = await run('export', folder)
    expect(error).toBeInstanceOf(BuildError)
    expect((error as BuildError).message).toMatch(`${folder} cannot be written: `)
  })
})

describe('check', () => {
  test('accepts a valid file, and touches neither store nor DATA_DIR', async () => {
    const file = await fileWith(someModels(2))
    const { error, stdout, stderr } = await run('check', file)
    expect([error, stdout, stderr]).toEqual([undefined, '', `${file} is a valid catalogue of 2 models\n`])
    expect(await readdir(folder)).toEqual(['catalogue.json'])
    const { stdout: json } = await run('check', file, '--json')
    expect(JSON.parse(json)).toEqual({ file, models: 2, problems: [], problem_count: 0 })
  })

  test('prints at most 50 problems of all with --json', async () => {
    const wrong = await fileWith(Array.from({ length: 70 }, () => null))
    const printed = JSON.parse((await run('check', wrong, '--json')).stdout)
    expect(printed.problem_count).toBe(70)
    expect(printed.problems).toHaveLength(50)
  })

  test.each([
    ['no JSON', '[\n{', /^ {2}line 2, column 2: not JSON: expected a key/m],
    ['no catalogue', '{"models":[]}', /^ {2}neither an array of entries/m],
    ['no UTF-8', Buffer.from([0x5b, 0xff, 0x5d]), /is not UTF-8 text/],
  ])('refuses a file that is %s', async (_what, content, message) => {
    const file = await fileWith(content)
    const { error } = await run('check', file)
    expect(error).toBeInstanceOf(BuildError)
    expect((error as BuildError).message).toMatch(message)
    expect((error as BuildError).message).toContain(file)
  })

  test.each(['check', 'import'])('%s refuses a file that does not exist', async (command) => {
    const { error } = await run(command, join(folder, 'nowhere.json'))
    expect(error).toBeInstanceOf(CliError)
    expect((error as CliError).message).toBe(`there is no file ${join(folder, 'nowhere.json')}`)
  })
})

describe('as a process', () => {
  test('exits with 0 when done, 1 for a wrong catalogue and 2 for a wrong command line, and reads stdin for -', async () => {
    const valid = JSON.stringify(someModels(2))
    const [imported, wrong, unnamed, unknown, help] = await Promise.all([
      runProcess(['import', '-', '--json'], valid),
      runProcess(['check', '-'], '[{}]'),
      runProcess(['import']),
      runProcess(['empty']),
      runProcess(['check', '--help']),
    ])
    expect([imported, wrong, unnamed, unknown, help].map(({ code }) => code)).toEqual([0, 1, 2, 2, 0])
    expect(JSON.parse(imported.stdout)).toMatchObject({ models: 2 })
    expect((await stored()).models).toEqual(someModels(2))
    expect(wrong.stderr).toMatch(/^tokenboard: stdin is not a valid catalogue:\n {2}line 1: \[0\]: id is missing\n/)
    expect(wrong.stdout).toBe('')
    expect(help.stdout).toContain('Usage: tokenboard catalog check [options] <file>')
  })
})
