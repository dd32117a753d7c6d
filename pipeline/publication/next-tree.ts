import { dirname, join } from 'node:path'
import type { Database } from '../base/database.ts'
import { type Content, isThere, linkTarget, namesIn, readIfAny, readTextIfAny } from '../base/files.ts'
import { isFolder, moveInto } from '../base/move.ts'
import { SMALL_FILES_AT_ONCE, sideBySide } from '../base/side-by-side.ts'
import { isCoding } from '../contract/codings.ts'
import { type ReleaseName, releasePath } from '../contract/manifest.ts'
import { publishedPath } from '../contract/published-paths.ts'
import { type LoadedRelease, loadRelease } from '../release/verify.ts'
import {
  type PublicFolder,
  removedFolder,
  STAGING_FOLDER,
  STEPS,
  type Step,
  SWITCHING,
  stagingRoot,
} from './public-folder.ts'
import { walkPublished } from './walk.ts'

/** No file lies below it: a new chain ignores what is published. */
const NOWHERE = '/dev/null'

/** Where the bytes of a file are, and whether this switch makes it. */
export interface FilePlace {
  place: string
  isStaged: boolean
}

/** The public folder after a switch. Everything is staged; `commit` moves it into place by renames alone. */
export class NextTree {
  readonly folder: PublicFolder
  readonly isNewChain: boolean
  readonly #roots = new Map<string, string>()
  readonly #folders = new Set<string>()
  /** Files that are staged side by side may need the same folder. */
  readonly #making = new Map<string, Promise<void>>()
  readonly #removed = new Map<Step, Set<string>>()
  readonly #outdated = new Map<Step, Set<string>>()
  #loaded: LoadedRelease | undefined

  constructor(folder: PublicFolder, { isNewChain = false } = {}) {
    this.folder = folder
    this.isNewChain = isNewChain
  }

  /** The folder below which a published path will be found: the staging root of its step, or the public folder. */
  rootOf(path: string): string {
    return this.#roots.get(path) ?? (this.isNewChain ? NOWHERE : this.folder.publicDir)
  }

  /** Where the file or folder of a published path will be found. */
  pathOf(path: string): string {
    return join(this.rootOf(path), path)
  }

  /** Adds the folder of a release already staged and flushed below `stagingRoot`, and the release if it was read. */
  adopt(path: string, loaded?: LoadedRelease): void {
    this.#loaded = loaded
    const root = stagingRoot(this.folder.publicDir, publishedPath(path).step)
    this.#roots.set(path, root)
    this.#remember(join(root, dirname(path)))
  }

  keep(path: string): void {
    this.#roots.set(path, this.folder.publicDir)
  }

  /** Whether a path that was replaced has the published content. */
  isPublished(path: string): boolean {
    return this.#roots.get(path) === this.folder.publicDir
  }

  read(path: string): Promise<string | undefined> {
    return readTextIfAny(this.pathOf(path))
  }

  /** A release that will be found there. The last one is kept, because days and pages follow from the same rows. */
  async load(release: ReleaseName, database: Database): Promise<LoadedRelease> {
    if (this.#loaded?.manifest.release !== release) {
      this.#loaded = await loadRelease(database, this.pathOf(releasePath(release)))
    }
    return this.#loaded
  }

  /** Stages a file unless the same content is already staged or published. */
  async replace(path: string, content: string | Buffer): Promise<void> {
    const root = this.#roots.get(path) ?? this.folder.publicDir
    if ((await readIfAny(join(root, path)))?.equals(Buffer.from(content))) this.#roots.set(path, root)
    else await this.write(path, content)
  }

  async write(path: string, content: Content): Promise<string> {
    const place = await this.reserve(path)
    await this.folder.files.write(place, content)
    return place
  }

  /** Creates the folder for a file that the caller writes and flushes. Returns the path to write to. */
  async reserve(path: string): Promise<string> {
    const { step } = publishedPath(path)
    const root = stagingRoot(this.folder.publicDir, step)
    await this.#makeFolder(join(root, dirname(path)))
    this.#roots.set(path, root)
    this.#removed.get(step)?.delete(path)
    return join(root, path)
  }

  async link(path: string, target: string): Promise<void> {
    const published = join(this.folder.publicDir, path)
    if ((await linkTarget(published)) === target) return
    const place = await this.reserve(path)
    await this.folder.files.link(target, place)
    // A copy that followed links left a folder here, which a rename cannot replace.
    if (await isFolder(published)) await this.outdate(path)
  }

  /** Schedules removal of a published path before the step places anything in its folder, which is then flushed. */
  async outdate(path: string, step: Step = publishedPath(path).step): Promise<void> {
    await this.#note(this.#outdated, step, path, removedFolder(this.folder.publicDir))
  }

  /** Schedules removal of a published path after the step has placed everything. */
  async remove(path: string, step: Step = publishedPath(path).step): Promise<void> {
    const root = this.#roots.get(path)
    if (root !== undefined) {
      this.#roots.delete(path)
      await this.folder.files.remove(join(root, path))
    }
    await this.#note(this.#removed, step, path, removedFolder(this.folder.publicDir))
  }

  /**
   * Where the bytes of every file will come from, by its published path. The files of `latest` are not among them: it is
   * the folder of the current release.
   */
  async files(): Promise<Map<string, FilePlace>> {
    const { publicDir } = this.folder
    const gone = this.#gone()
    const files = new Map<string, FilePlace>()
    const add = (root: string, { path, isFile }: { path: string; isFile: boolean }, isStaged: boolean) => {
      if (isFile) files.set(path, { place: join(root, path), isStaged })
    }
    for (const each of walkPublished(publicDir, gone)) add(publicDir, each, false)
    for (const step of STEPS) {
      const root = stagingRoot(publicDir, step)
      for (const each of walkPublished(root)) add(root, each, true)
    }
    return files
  }

  /** Tells of a published path whether the switch removes it, or a folder that it is in. */
  removed(): (path: string) => boolean {
    const gone = this.#gone()
    const isGone = (path: string): boolean => gone.has(path) || (path !== '.' && isGone(dirname(path)))
    return isGone
  }

  #gone(): Set<string> {
    const all = [this.#outdated, this.#removed].flatMap((steps) => [...steps.values()])
    return new Set(all.flatMap((paths) => [...paths]))
  }

  async flush(): Promise<void> {
    await sideBySide([...this.#folders], (folder) => this.folder.files.flush(folder), SMALL_FILES_AT_ONCE)
  }

  /** Marks the public folder as being switched, before the fact is appended that the switch follows from. */
  async begin(): Promise<void> {
    if (this.#folders.size === 0) return
    const { publicDir, files } = this.folder
    await files.write(join(publicDir, SWITCHING), '')
    await files.flush(join(publicDir, STAGING_FOLDER))
    await files.flush(publicDir)
  }

  async commit(): Promise<void> {
    if (this.#folders.size === 0) return
    const { publicDir, files } = this.folder
    let taken = 0
    const take = async (path: string, isMore?: boolean) => {
      taken += 1
      await files.rename(join(publicDir, path), join(removedFolder(publicDir), `${taken}`), isMore)
    }
    for (const step of STEPS) {
      const root = stagingRoot(publicDir, step)
      const outdated = [...(this.#outdated.get(step) ?? [])]
      for (const [position, path] of outdated.entries()) await take(path, position < outdated.length - 1)
      if (await isFolder(root)) await moveInto(files, root, publicDir)
      const removed = await wholeFolders(publicDir, this.#removed.get(step) ?? new Set())
      // A host would send a compressed form without its text.
      for (const path of [...removed].sort((a, b) => Number(isCoding(b)) - Number(isCoding(a)))) await take(path)
    }
  }

  async #makeFolder(folder: string): Promise<void> {
    if (this.#folders.has(folder)) return
    const making = this.#making.get(folder) ?? this.folder.files.makeFolder(folder)
    this.#making.set(folder, making)
    await making
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

async function wholeFolders(publicDir: string, paths: ReadonlySet<string>): Promise<Set<string>> {
  const all = new Set(paths)
  // The loop also visits folders added on the way.
  for (const path of all) {
    const folder = dirname(path)
    const names = await namesIn(join(publicDir, folder))
    if (folder !== '.' && names.every((name) => all.has(`${folder}/${name}`))) all.add(folder)
  }
  const topOf = (path: string): string => (all.has(dirname(path)) ? topOf(dirname(path)) : path)
  return new Set([...paths].map(topOf))
}
