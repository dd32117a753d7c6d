/** Pictures for links: that the text is in them, what they show, and how pages name them. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { inflateSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { landingPage } from '../../pipeline/site/landing.ts'
import { leaderboardPages } from '../../pipeline/site/leaderboards.ts'
import { modelPages } from '../../pipeline/site/model-page.ts'
import { drawPictures } from '../../pipeline/site/picture/draw.ts'
import { ttfOf } from '../../pipeline/site/picture/woff.ts'
import { linkPictures } from '../../pipeline/site/pictures.ts'
import { manifestOf } from '../support/manifest.ts'
import { manyRows } from '../support/rows.ts'
import { siteFacts } from '../support/site.ts'

const FACTS = siteFacts(manyRows(40, 20))
const { publisher } = FACTS.manifest
const NOWHERE = { ...publisher, url: 'https://example.org/tokens' }

const svgOf = (path: string, facts = FACTS) => linkPictures(facts).find((each) => each.path === path)?.svg ?? ''

/** The size of a PNG, and how many of its bytes differ from the one before, without compression. */
function pixelsOf(png: Buffer): { width: number; height: number; data: Buffer } {
  const chunks: Buffer[] = []
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at)) {
    const length = png.readUInt32BE(at)
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT') chunks.push(png.subarray(at + 8, at + 8 + length))
  }
  return { width: png.readUInt32BE(16), height: png.readUInt32BE(20), data: inflateSync(Buffer.concat(chunks)) }
}

describe('a picture', () => {
  it.each([
    ['a small letter', 'e'],
    ['a bold digit', '7'],
    ['a letter with an accent', 'ő'],
    ['a Cyrillic letter', 'ж'],
    ['a Greek letter', 'λ'],
  ])('has its text, such as %s', async (_what, letter) => {
    const svg = (text: string) =>
      `<svg xmlns="http://www.w3.org/2000/svg" width="80" height="80" font-family="Inter" font-weight="${letter === '7' ? 700 : 400}"><text x="10" y="60" font-size="50">${text}</text></svg>`
    const [drawn, blank] = await drawPictures([svg(letter), svg(' ')])
    if (drawn === undefined || blank === undefined) throw new Error('there is no picture')
    const [one, other] = [pixelsOf(drawn), pixelsOf(blank)]
    expect(one.data.filter((byte, position) => byte !== other.data[position]).length).toBeGreaterThan(100)
  })

  it('is 1200 × 630 pixels, and the same for the same facts', async () => {
    const svg = svgOf('pictures/overview.png')
    const [one, again] = await drawPictures([svg, svg])
    expect(one?.equals(again ?? Buffer.alloc(0))).toBe(true)
    expect(pixelsOf(one ?? Buffer.alloc(0))).toMatchObject({ width: 1200, height: 630 })
  })
})

describe('pictures for links', () => {
  it('show the first five of a leaderboard, and the overview its chart with names', () => {
    const board = svgOf('pictures/day.png')
    expect([...board.matchAll(/>(\d) +([^<]+)</g)].map(([, rank, name]) => `${rank} ${name}`)).toEqual(
      [0, 1, 2, 3, 4].map((rank) => `${rank + 1} author-${rank % 7}/model-number-${rank}-20260101`),
    )
    expect(board).toContain('2026-11-19')
    expect(board).toContain('2T · ')
    expect(svgOf('pictures/overview.png')).toContain('all others')
    expect(svgOf('pictures/all.png')).toContain('At least these tokens')
  })

  it('have a card without numbers of the data', () => {
    const shown = [...svgOf('pictures/card.png').matchAll(/>([^<>\n]+)</g)].map(([, text]) => text)
    expect(shown).toEqual([publisher.title, publisher.description, publisher.name, new URL(publisher.url).host])
  })

  it('say that the sample is synthetic, and escape names', () => {
    const facts = siteFacts([{ date: '2026-11-19', model_permaslug: 'a/<b>&"', total_tokens: '5' }], {
      manifest: { synthetic: true },
    })
    for (const { svg } of linkPictures(facts)) expect(svg).toContain('SYNTHETIC')
    expect(svgOf('pictures/day.png', facts)).toContain('a/&lt;b&gt;&amp;&quot;')
  })

  it('are not made without an address of the publisher, and no page names one', () => {
    const facts = siteFacts(FACTS.rows, { manifest: manifestOf({ publisher: NOWHERE }) })
    expect(linkPictures(facts)).toEqual([])
    const { text } = landingPage(facts)
    expect(text).not.toContain('og:image')
    expect(text).toContain('<meta name="twitter:card" content="summary">')
  })

  it('are named by their pages, with a whole address, their size and words', () => {
    const made = linkPictures(FACTS).map(({ path }) => path)
    const pages = [landingPage(FACTS), ...leaderboardPages(FACTS), ...modelPages(FACTS).slice(0, 1)]
    const named = pages.map(({ text }) => {
      const [, url = ''] = /<meta property="og:image" content="([^"]+)">/.exec(text) ?? []
      expect(text).toMatch(/<meta property="og:image:alt" content="[^"]{20,}">/)
      expect(text).toContain('<meta property="og:image:width" content="1200">')
      expect(text).toContain('<meta name="twitter:card" content="summary_large_image">')
      expect(url.startsWith(publisher.url)).toBe(true)
      return new URL(url).pathname.slice(1)
    })
    expect(new Set(named)).toEqual(new Set(made))
  })
})

it('a font from WOFF has the tables of its file, each with its checksum', () => {
  const path = createRequire(import.meta.url).resolve('@fontsource/inter/files/inter-greek-400-normal.woff')
  const ttf = ttfOf(readFileSync(path))
  const count = ttf.readUInt16BE(4)
  expect(count).toBeGreaterThan(8)
  for (let table = 0; table < count; table++) {
    const [sum, offset, length] = [4, 8, 12].map((at) => ttf.readUInt32BE(12 + 16 * table + at))
    if (ttf.toString('latin1', 12 + 16 * table, 16 + 16 * table) === 'head') continue
    let total = 0
    for (let at = offset ?? 0; at < (offset ?? 0) + (length ?? 0); at += 4) total = (total + ttf.readUInt32BE(at)) >>> 0
    expect(total).toBe(sum)
  }
})
