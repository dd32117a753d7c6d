import { readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { LastMade } from '../../base/last-made.ts'
import { withTemporaryFolder } from '../../base/scratch.ts'
import { FONT } from './frame.ts'
import { ttfOf } from './woff.ts'

const FOLDER = join(dirname(createRequire(import.meta.url).resolve('@fontsource/inter/package.json')), 'files')

/** What the font has in files of its own. A picture loads those that its text needs, for each takes time. */
const SCRIPTS = [
  ['latin', /./],
  ['latin-ext', /[\u0100-\u02ff\u1e00-\u1eff\u20a0-\u20bf]/],
  ['cyrillic', /[\u0400-\u045f]/],
  ['greek', /[\u0370-\u03ff]/],
] as const

const WEIGHTS = ['400', '700'] as const

/** Pictures by their fonts and text: at most some 5 MB. */
const drawn = new LastMade<Buffer>(200)

/** Draws SVG texts as PNG files. Equal texts give equal bytes. The fonts of the machine have no part in it. */
export async function drawPictures(texts: readonly string[]): Promise<Buffer[]> {
  const scripts = SCRIPTS.filter(([, letters]) => texts.some((text) => letters.test(text)))
  const fonts = scripts.flatMap(([script]) => WEIGHTS.map((weight) => `inter-${script}-${weight}-normal`))
  const keyOf = (text: string) => `${fonts} ${text}`
  const known = texts.map((text) => drawn.get(keyOf(text)))
  const others = texts.filter((_, position) => known[position] === undefined)
  const pictures = new Map(await draw(others, fonts))
  for (const [text, picture] of pictures) drawn.set(keyOf(text), picture)
  return texts.map((text, position) => known[position] ?? pictures.get(text) ?? Buffer.alloc(0))
}

async function draw(texts: readonly string[], fonts: readonly string[]): Promise<[text: string, picture: Buffer][]> {
  if (texts.length === 0) return []
  // Loaded only by builds that draw.
  const { Resvg } = await import('@resvg/resvg-js')
  return withTemporaryFolder('fonts', async (folder) => {
    const fontFiles = await Promise.all(fonts.map((name) => writeFont(folder, name)))
    const font = { loadSystemFonts: false, fontFiles, defaultFontFamily: FONT }
    return texts.map((text) => [text, new Resvg(text, { font }).render().asPng()])
  })
}

/** The renderer reads fonts from files, and silently ignores WOFF. */
async function writeFont(folder: string, name: string): Promise<string> {
  const path = join(folder, `${name}.ttf`)
  await writeFile(path, ttfOf(await readFile(join(FOLDER, `${name}.woff`))))
  return path
}
