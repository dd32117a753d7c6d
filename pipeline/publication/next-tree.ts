import { dirname, join } from 'node:path'
import { type Content, isThere, linkTarget, namesIn, readTextIfAny } from '../base/files.ts'
import { isFolder, moveInto } from '../base/move.ts'
import { sideBySide } from '../base/side-by-side.ts'
import { publishedPath } from '../contract/published-paths.ts'
import {
  asideFolder,
  goneFolder,
  type PublicFolder,
  STAGING_FOLDER,
  STEPS,
  type Step,
  SWITCHING,
  stagingRoot,
} from './public-folder.ts'

/** Below which nothing is found: a new chain knows nothing of what is published. */
const NOWHERE = '/dev/null'

/** How many files to write at the same time. They are small, so most of the time is spent waiting for the disk. */
const AT_ONCE = 16

/**
 * The public folder as a switch will leave it. Everything is written below the staging folder first; `commit` then moves
 * it into place in one run of renames. Nothing is rendered or read back during that run.
 */
export class NextTree {
  readonly folder: PublicFolder
  /** Whether the history starts anew: then nothing that is published now counts. */
  readonly isNewChain: boolean
  readonly #roots = new Map<string, string>()
  readonly #folders = new Set<string>()
  readonly #removed = new Map<Step, Set<string>>()
  readonly #inTheWay = new Map<Step, Set<string>>()

  constructor(folder: PublicFolder, { isNewChain = false } = {}) {
    this.folder = folder
    this.isNewChain = isNewChain
  }

  /** The folder below which a published path will be found: that of a step, or the public folder. */
  rootOf(path: string): string {
    return this.#roots.get(path) ?? (this.isNewChain ? NOWHERE : this.folder.publicDir)
  }

  /** Takes in a folder that was staged and flushed at its path below `stagingRoot`. */
  adopt(path: string): void {
    const root = stagingRoot(this.folder.publicDir, publishedPath(path).step)
    this.#roots.set(path, root)
    this.#remember(join(root, dirname(path)))
  }

  /** Takes in what is published already and stays. */
  keep(path: string): void {
    this.#roots.set(path, this.folder.publicDir)
  }

  /** The text that a path will have, if any. */
  read(path: string): Promise<string | undefined> {
    return readTextIfAny(join(this.rootOf(path), path))
  }

  /** Stages a file, unless the same text is staged or published already. */
  async replace(path: string, text: string): Promise<void> {
    const root = this.#roots.get(path) ?? this.folder.publicDir
    if ((await readTextIfAny(join(root, path))) === text) this.#roots.set(path, root)
    else await this.write(path, text)
  }

  /** Stages a file. Returns where. */
  async write(path: string, content: Content): Promise<string> {
    const place = await this.reserve(path)
    await this.folder.files.write(place, content)
    return place
  }

  /** Makes the folder for a file that somebody else writes and flushes. Returns where it belongs. */
  async reserve(path: string): Promise<string> {
    const { step } = publishedPath(path)
    const root = stagingRoot(this.folder.publicDir, step)
    await this.#makeFolder(join(root, dirname(path)))
    this.#roots.set(path, root)
    this.#removed.get(step)?.delete(path)
    return join(root, path)
  }

  /** Stages a relative symbolic link, unless it is published already. */
  async link(path: string, target: string): Promise<void> {
    const published = join(this.folder.publicDir, path)
    if ((await linkTarget(published)) === target) return
    const place = await this.reserve(path)
    await this.folder.files.link(target, place)
    // A copy that followed links left a folder there, which a rename would not replace.
    if (await isFolder(published)) await this.makeWay(path)
  }

  /** Has the step take a published file or folder away before it puts anything in place. */
  async makeWay(path: string, step: Step = publishedPath(path).step): Promise<void> {
    await this.#note(this.#inTheWay, step, path, join(asideFolder(this.folder.publicDir), dirname(path)))
  }

  /** Has the step take a published file or folder away once everything of it is in place. */
  async remove(path: string, step: Step = publishedPath(path).step): Promise<void> {
    const root = this.#roots.get(path)
    if (root !== undefined) {
      this.#roots.delete(path)
      await this.folder.files.remove(join(root, path))
    }
    await this.#note(this.#removed, step, path, goneFolder(this.folder.publicDir))
  }

  /** Waits until the entries of all staged folders are on disk: after it everything is ready for `commit`. */
  async flush(): Promise<void> {
    await sideBySide([...this.#folders], (folder) => this.folder.files.flush(folder), AT_ONCE)
  }

  /** Moves everything into place, and what is in no release any more out of sight. */
  async commit(): Promise<void> {
    // Nothing was staged.
    if (this.#folders.size === 0) return
    const { publicDir, files } = this.folder
    let taken = 0
    await files.write(join(publicDir, SWITCHING), '')
    await files.flush(join(publicDir, STAGING_FOLDER))
    for (const step of STEPS) {
      const root = stagingRoot(publicDir, step)
      for (const path of this.#inTheWay.get(step) ?? []) {
        await files.rename(join(publicDir, path), join(asideFolder(publicDir), path))
      }
      if (await isFolder(root)) await moveInto(files, root, publicDir)
      for (const path of await wholeFolders(publicDir, this.#removed.get(step) ?? new Set())) {
        taken += 1
        await files.rename(join(publicDir, path), join(goneFolder(publicDir), `${taken}`))
      }
    }
  }

  async #makeFolder(folder: string): Promise<void> {
    if (this.#folders.has(folder)) return
    await this.folder.files.makeFolder(folder)
    this.#remember(folder)
  }

  #remember(folder: string): void {
    const staging = join(this.folder.publicDir, STAGING_FOLDER)
    for (let each = folder; each !== staging; each = dirname(each)) this.#folders.add(each)
  }

  async #note(paths: Map<Step, Set<string>>, step: Step, path: string, folder: string): Promise<void> {
    if (!(await isThere(join(this.folder.publicDir, path)))) return
    await this.#makeFolder(folder)
    paths.set(step, (paths.get(step) ?? new Set()).add(path))
  }
}

/** The same paths, and for those of a folder of which nothing would be left that folder. */
async function wholeFolders(publicDir: string, paths: ReadonlySet<string>): Promise<Set<string>> {
  const all = new Set(paths)
  // Folders that are added are looked at too.
  for (const path of all) {
    const folder = dirname(path)
    const names = await namesIn(join(publicDir, folder))
    if (folder !== '.' && names.every((name) => all.has(`${folder}/${name}`))) all.add(folder)
  }
  const topOf = (path: string): string => (all.has(dirname(path)) ? topOf(dirname(path)) : path)
  return new Set([...paths].map(topOf))
}
