import { hash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Metafile } from 'esbuild'
import { type Html, html } from '../contract/html.ts'
import type { Page } from './layout.ts'

const FOLDER = fileURLToPath(new URL('./browser/', import.meta.url))
const ENTRIES = new Set(['.ts', '.css'])
const HASH_DIGITS = 16
export const LICENSES_FILE = 'assets/licenses.txt'

/** Published path by entry: `explore.ts` -> `assets/explore-0f3a5c7e9b1d2468.js`. */
export type AssetNames = Readonly<Record<string, string>>

export interface Bundle {
  names: AssetNames
  pages: Page[]
}

/** Renders the element that loads an entry, such as `explore.ts`. `root` leads from the page to the public folder. */
export type EntryTag = (entry: string, root?: string) => Html

export function entryTags({ names, pages }: Bundle): EntryTag {
  return (entry, root = '') => {
    const page = pages.find(({ path }) => path === names[entry])
    if (page === undefined) throw new Error(`the bundle has no ${entry}`)
    return assetTag(root + page.path, hash('sha384', page.text, 'base64'))
  }
}

let bundle: Promise<Bundle> | undefined

/** Browser code, named by content so it can be cached forever. Equal sources give equal bytes. */
export function bundleBrowser(): Promise<Bundle> {
  bundle ??= bundleEntries()
  return bundle
}

/** Like `bundleBrowser`, without its cache. */
export async function bundleEntries(): Promise<Bundle> {
  const entries = (await readdir(FOLDER)).filter((name) => ENTRIES.has(extname(name))).sort()
  // Loaded only by builds that publish.
  const { build } = await import('esbuild')
  const { outputFiles, metafile } = await build({
    absWorkingDir: FOLDER,
    entryPoints: entries,
    outdir: 'out',
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    charset: 'utf8',
    legalComments: 'none',
    metafile: true,
    write: false,
    logLevel: 'silent',
  })
  const assets = outputFiles.map(({ path, text }) => ({ entry: entryOf(path), path: hashedName(path, text), text }))
  return {
    names: Object.fromEntries(assets.map(({ entry, path }) => [entry, path])),
    pages: [...assets.map(({ path, text }) => ({ path, text })), await licenses(metafile)],
  }
}

function entryOf(output: string): string {
  return basename(output).replace(/\.js$/, '.ts')
}

function hashedName(output: string, text: string): string {
  const digest = hash('sha256', text).slice(0, HASH_DIGITS)
  const ending = extname(output)
  return `assets/${basename(output, ending)}-${digest}${ending}`
}

async function licenses({ inputs }: Metafile): Promise<Page> {
  const folders = new Map<string, string>()
  for (const path of Object.keys(inputs)) {
    const [, folder = '', name = ''] = /^(.*node_modules\/((?:@[^/]+\/)?[^/]+))\//.exec(path) ?? []
    if (name !== '') folders.set(name, folder)
  }
  const texts = [...folders.keys()].sort().map(async (name) => {
    const folder = join(FOLDER, folders.get(name) ?? '')
    const { version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
    const text = await readFile(join(folder, 'LICENSE'), 'utf8')
    return `${name} ${version} (${license})\n\n${text.trim()}\n`
  })
  const intro = 'The scripts of this site contain parts of these packages.\n'
  const all = [intro, ...(await Promise.all(texts))]
  return { path: LICENSES_FILE, text: all.join(`\n${'-'.repeat(72)}\n\n`) }
}

/** The element by which a page loads an asset. Browsers refuse bytes that do not have the hash (W3C Subresource Integrity). */
function assetTag(address: string, sha384: string): Html {
  return address.endsWith('.css')
    ? html`<link rel="stylesheet" href="${address}" integrity="sha384-${sha384}">\n`
    : html`<script type="module" src="${address}" integrity="sha384-${sha384}"></script>\n`
}
