import { hash } from 'node:crypto'
import { join } from 'node:path'
import { z } from 'zod'
import { readIfAny, readTextIfAny, replaceFile } from '../base/files.ts'
import { jsonIfAny, toJson } from '../base/json.ts'
import { sideBySide } from '../base/side-by-side.ts'
import type { LinkPicture } from '../site/pictures.ts'
import type { PublicFolder } from './public-folder.ts'
import type { PublishedPage } from './publication.ts'

const PICTURES_FILE = 'pictures.json'

/** By path: the hash of what a picture was drawn from, and of the picture. A cache in the state folder. */
const Noted = z.record(z.string(), z.object({ drawn_from: z.string(), sha256: z.string() }))
type Noted = z.infer<typeof Noted>

type Folder = Pick<PublicFolder, 'publicDir' | 'stateDir' | 'files'>

/** Draws pictures as PNG. */
export async function drawn(pictures: readonly LinkPicture[]): Promise<PublishedPage[]> {
  const { drawPictures } = await import('../site/picture/draw.ts')
  const drawings = await drawPictures(pictures.map(({ svg }) => svg))
  return pictures.map(({ path }, position) => ({ path, text: drawings[position] ?? Buffer.alloc(0) }))
}

/** As `drawn`, but published pictures stand if they were drawn from the same. `note` notes them when they are published. */
export async function drawChanged(
  folder: Folder,
  pictures: readonly LinkPicture[],
): Promise<{ drawings: PublishedPage[]; note: () => Promise<void> }> {
  const noted = await readNoted(folder)
  const found = await sideBySide(pictures, async ({ path, svg }): Promise<PublishedPage[]> => {
    const picture = noted[path]
    if (picture?.drawn_from !== hash('sha256', svg)) return []
    const text = await readIfAny(join(folder.publicDir, path))
    return text !== undefined && hash('sha256', text) === picture.sha256 ? [{ path, text }] : []
  })
  const standing = new Map(found.flat().map((each) => [each.path, each]))
  const others = await drawn(pictures.filter(({ path }) => !standing.has(path)))
  const drawings = [...standing.values(), ...others]
  const sources = new Map(pictures.map(({ path, svg }) => [path, hash('sha256', svg)]))
  const next = drawings.map(({ path, text }): [string, Noted[string]] => {
    return [path, { drawn_from: sources.get(path) ?? '', sha256: hash('sha256', text) }]
  })
  const note = () => replaceFile(folder.files, join(folder.stateDir, PICTURES_FILE), toJson(Object.fromEntries(next)))
  return { drawings, note: others.length === 0 ? async () => {} : note }
}

/** Whether all pictures that were drawn are published as they were. */
export async function arePicturesStanding(folder: Folder): Promise<boolean> {
  const standing = await sideBySide(Object.entries(await readNoted(folder)), async ([path, { sha256 }]) => {
    const picture = await readIfAny(join(folder.publicDir, path))
    return picture !== undefined && hash('sha256', picture) === sha256
  })
  return !standing.includes(false)
}

async function readNoted({ stateDir }: Folder): Promise<Noted> {
  return Noted.safeParse(jsonIfAny(await readTextIfAny(join(stateDir, PICTURES_FILE)))).data ?? {}
}
