import { chmod, realpath } from 'node:fs/promises'
import { z } from 'zod'
import { CliError } from '../base/errors.ts'
import { type Files, ifAny, readIfAny, replaceFile, statsIfAny, toText } from '../base/files.ts'
import { parseJson } from '../base/json.ts'
import { Model } from '../raw/registry.ts'

/** `models.json`, with its entries' keys and order kept. */
export class RegistryFile {
  readonly path: string
  readonly #models: readonly Model[]
  readonly #entries: readonly unknown[]

  private constructor(path: string, text: string) {
    this.path = path
    this.#models = parseJson(z.array(Model), text, path, CliError)
    this.#entries = parseJson(z.array(z.unknown()), text, path, CliError)
  }

  /** A missing file is an empty registry. */
  static async read(path: string): Promise<RegistryFile> {
    const bytes = await readIfAny(path)
    return new RegistryFile(path, bytes === undefined ? '[]' : toText(bytes, path, CliError))
  }

  get names(): string[] {
    return this.#models.flatMap(({ model_permaslug, aliases }) => [model_permaslug, ...aliases])
  }

  /** Appends entries. Readers see the old or the new file; links and the file mode stay. */
  async append(models: readonly { model: string; public: boolean }[], files: Files): Promise<void> {
    const added = models.map(({ model, public: isPublic }) => ({ model_permaslug: model, public: isPublic }))
    const path = (await ifAny(() => realpath(this.path))) ?? this.path
    const mode = (await statsIfAny(path))?.mode
    await replaceFile(files, path, `${JSON.stringify([...this.#entries, ...added], undefined, 2)}\n`)
    if (mode !== undefined) await chmod(path, mode)
  }
}
