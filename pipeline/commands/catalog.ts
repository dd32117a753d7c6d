import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { Command } from '@commander-js/extra-typings'
import type { CatalogueError } from '../../server/schemas/embeddings-catalogue.ts'
import type { EmbeddingsModel } from '../../server/schemas/embeddings-model.ts'
import type { EmbeddingsCatalogue } from '../../server/store/embeddings-models.ts'
import { BuildError, CliError, reasonOf } from '../base/errors.ts'
import { isMissing, realFiles, replaceFile } from '../base/files.ts'
import { jsonIfAny } from '../base/json.ts'
import { columnAt, lineCounter, lineFinder, readJsonText } from '../base/json-text.ts'
import { counted } from '../base/numbers.ts'
import { CATALOGUE_FILE } from '../contract/embeddings-catalogue.ts'
import { serverConfig } from './serve.ts'

const STANDARD_STREAM = '-'
const INPUT = 'a JSON array of entries, or an object that holds it as "data"; - for stdin'

const importCatalogue = new Command('import')
  .description('Replace the embeddings catalogue in the store and its copy in DATA_DIR. A wrong entry changes nothing.')
  .argument('<file>', INPUT)
  .option('--json', 'print the outcome as one JSON object on stdout')
  .action(async (file, { json = false }) => {
    const models = await readValid(file, { json, consequence: '; nothing was changed' })
    const copy = await withCatalogue(async (catalogue, dataDir) => {
      await catalogue.replaceAll(models)
      return await writeCopy(catalogue, dataDir)
    })
    process.stderr.write(`imported ${counted(models.length, 'model')} into the store and ${copy}\n`)
    if (json) printJson({ models: models.length, file: copy })
  })

const exportCatalogue = new Command('export')
  .description('Write the embeddings catalogue of the store to a file that import can read.')
  .argument('[file]', 'where to; - for stdout', STANDARD_STREAM)
  .option('--json', 'print the outcome as one JSON object on stdout; needs a file')
  .action(async (file, { json = false }) => {
    const toStdout = file === STANDARD_STREAM
    if (json && toStdout) throw new CliError('--json needs a file to export to, because stdout has the catalogue')
    const entries = await withCatalogue(async (catalogue, dataDir) => {
      const { fillNewCatalogue } = await import('../../server/store/embeddings-models.ts')
      await fillNewCatalogue(catalogue, dataDir)
      return (await catalogue.current()).entries
    })
    if (toStdout) process.stdout.write(asFile(entries))
    else await writeFile(file, asFile(entries))
    process.stderr.write(`exported ${counted(entries.length, 'model')} to ${toStdout ? 'stdout' : file}\n`)
    if (json) printJson({ models: entries.length, file })
  })

const checkCatalogue = new Command('check')
  .description('Say whether import would accept a file, and everything that is wrong if not.')
  .argument('<file>', INPUT)
  .option('--json', 'print the outcome as one JSON object on stdout')
  .action(async (file, { json = false }) => {
    const models = await readValid(file, { json })
    process.stderr.write(`${nameOf(file)} is a valid catalogue of ${counted(models.length, 'model')}\n`)
    if (json) printJson({ models: models.length, file, problems: [], problem_count: 0 })
  })

export const catalog = new Command('catalog')
  .description('Import, export and check the embeddings catalogue.')
  .addCommand(importCatalogue)
  .addCommand(exportCatalogue)
  .addCommand(checkCatalogue)

async function withCatalogue<T>(work: (catalogue: EmbeddingsCatalogue, dataDir: string) => Promise<T>): Promise<T> {
  const { databaseUrl, dataDir } = await serverConfig()
  const { embeddingsCatalogue } = await import('../../server/store/embeddings-models.ts')
  const { openStore } = await import('../../server/store/store.ts')
  const store = await openStore(databaseUrl)
  try {
    return await work(embeddingsCatalogue(store), dataDir)
  } finally {
    await store.close()
  }
}

/** Throws with all problems of an invalid catalogue; with `json`, prints them too. */
async function readValid(
  file: string,
  { json, consequence = '' }: { json: boolean; consequence?: string },
): Promise<EmbeddingsModel[]> {
  const { CatalogueError, parseCatalogue } = await import('../../server/schemas/embeddings-catalogue.ts')
  const text = await readInput(file)
  try {
    return parseCatalogue(text)
  } catch (error) {
    if (!(error instanceof CatalogueError)) throw error
    const { problems, problemCount } = error
    if (json) printJson({ file, problems, problem_count: problemCount })
    const headline = `${nameOf(file)} is not a valid catalogue${consequence}:`
    throw new BuildError([headline, ...linesOf(error, text)].join('\n  '))
  }
}

/** A line for each problem, with the line of the file that it is in. */
function linesOf({ message, problems }: CatalogueError, text: string): string[] {
  const value = jsonIfAny(text)
  if (value === undefined) {
    const lineAt = lineCounter(text)
    return readJsonText(text).map(
      ({ offset, problem }) => `line ${lineAt(offset)}, column ${columnAt(text, offset)}: ${problem}`,
    )
  }
  const lineOf = lineFinder(text)
  const list = Array.isArray(value) ? [] : ['data']
  return message.split('\n').map((line, position) => {
    const { index, path = '' } = problems[position] ?? {}
    return index === undefined ? line : `line ${lineOf([...list, index, ...path.split('.')])}: ${line}`
  })
}

async function readInput(file: string): Promise<string> {
  const bytes = await (file === STANDARD_STREAM ? buffer(process.stdin) : readNamed(file))
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new BuildError(`${nameOf(file)} is not UTF-8 text`)
  }
}

async function readNamed(file: string): Promise<Buffer> {
  try {
    return await readFile(file)
  } catch (error) {
    throw new CliError(isMissing(error) ? `there is no file ${file}` : `${file} cannot be read: ${reasonOf(error)}`)
  }
}

/** Repeats if another import came between: the last import wins in the store and in DATA_DIR. */
async function writeCopy(catalogue: EmbeddingsCatalogue, dataDir: string): Promise<string> {
  const copy = join(dataDir, CATALOGUE_FILE)
  for (;;) {
    const { revision, entries } = await catalogue.current()
    await writeFile(copy, asFile(entries)).catch((error: Error) => {
      throw new BuildError(`the store holds the new catalogue, but ${error.message}; import it again`)
    })
    if ((await catalogue.revision()) === revision) return copy
  }
}

async function writeFile(path: string, content: string): Promise<void> {
  try {
    await realFiles.makeFolder(dirname(path))
    await replaceFile(realFiles, path, content, { next: `${path}.${process.pid}.next` })
  } catch (error) {
    throw new BuildError(`${path} cannot be written: ${(error as Error).message}`, { cause: error })
  }
}

function asFile(entries: readonly string[]): string {
  const models: unknown[] = entries.map((entry) => JSON.parse(entry))
  return `${JSON.stringify(models, null, 2)}\n`
}

function printJson(value: object): void {
  process.stdout.write(`${JSON.stringify(value)}\n`)
}

function nameOf(file: string): string {
  return file === STANDARD_STREAM ? 'stdin' : file
}
