/** The documents of a release against committed ones and their standards. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, test } from 'vitest'
import { z } from 'zod'
import { CHANGE_COLUMNS } from '../../../pipeline/contract/change-log.ts'
import type { Manifest } from '../../../pipeline/contract/manifest.ts'
import { renderBibtex } from '../../../pipeline/release/documents/bibtex.ts'
import { describeCitation, renderCitationFile } from '../../../pipeline/release/documents/citation-file.ts'
import { renderLiveCroissant } from '../../../pipeline/release/documents/croissant.ts'
import { renderDcatCatalog } from '../../../pipeline/release/documents/dcat.ts'
import { describeDataset } from '../../../pipeline/release/documents/describe.ts'
import { renderDictionary } from '../../../pipeline/release/documents/dictionary.ts'
import { renderDocuments } from '../../../pipeline/release/documents/documents.ts'
import { CHANGE_FIELDS, PERIOD_CHANGE_FIELDS } from '../../../pipeline/release/documents/fields.ts'
import { renderReadme } from '../../../pipeline/release/documents/readme.ts'
import { schemaOrgDataset, toScriptJson } from '../../../pipeline/release/documents/schema-org.ts'
import { manifestOf, PUBLISHER } from '../../support/manifest.ts'

const MANIFEST = manifestOf()
const DATASET = describeDataset(MANIFEST)
const RELEASE = 'datasets/rankings-daily/v1/releases/20261120T001200Z/'
const PLACES = {
  release: RELEASE,
  previous: undefined,
  series: 'v1/',
  first: { folder: 'v1/releases/20250310T001200Z/', as_of: '2025-03-10T00:12:00Z' },
  api: 'api/v1/',
  api_page: 'docs/index.html',
}

/** A publisher whose every word is a trap for some format. */
const HOSTILE = {
  ...PUBLISHER,
  name: 'A & B {C} \\ "D" %\n# 100_$ ~^ </script><!-- | `x`',
  title: "- key: [value] 'é' \u2028 \u0085 \u{1f600}",
  contact: 'ask\tus: "anything"',
}

function allTexts(manifest: Manifest): [string, string][] {
  const dataset = describeDataset(manifest)
  return [
    ...renderDocuments(dataset).map(({ path, text }): [string, string] => [path, text]),
    ['live croissant', JSON.stringify(renderLiveCroissant(dataset, 'latest/'))],
    ['catalogue', JSON.stringify(renderDcatCatalog(dataset, PLACES))],
    ['page', toScriptJson(schemaOrgDataset(dataset, RELEASE))],
  ]
}

test.each(allTexts(MANIFEST).filter(([name]) => name !== 'LICENSE'))(
  'renders the document %s as committed',
  async (name, text) => {
    const path = join(import.meta.dirname, 'documents', `${name.replaceAll(/[ .]/g, '-')}.txt`)
    await expect(/^[[{]/.test(text.trimStart()) ? pretty(text) : text).toMatchFileSnapshot(path)
  },
)

function pretty(json: string): string {
  return `${JSON.stringify(JSON.parse(json), undefined, 2)}\n`
}

test('docs/data-dictionary.md is written from the code', async () => {
  await expect(renderDictionary()).toMatchFileSnapshot('../../../docs/data-dictionary.md')
})

describe('every document of a release', () => {
  it.each(allTexts(manifestOf({ synthetic: true })))('warns of synthetic data: %s', (_, text) => {
    expect(text).toMatch(/synthetic sample/i)
    expect(text).toContain('describes no real usage')
  })

  it.each(allTexts(MANIFEST))('does not mention synthetic data in a release of real data: %s', (_, text) => {
    expect(text).not.toMatch(/synthetic sample/i)
  })
})

it('no document mentions weeks and months of a release that does not have them', () => {
  const files = MANIFEST.files.filter(({ path }) => !/weekly|monthly/.test(path))
  for (const [name, text] of allTexts(manifestOf({ tables: undefined, files }))) {
    expect(text, name).not.toMatch(/weeks|months|weekly|monthly/i)
  }
})

test('the columns of changes of a table are those of its file', () => {
  expect(CHANGE_FIELDS.map(({ name }) => name)).toEqual(CHANGE_COLUMNS.daily)
  expect(PERIOD_CHANGE_FIELDS.map(({ name }) => name)).toEqual(CHANGE_COLUMNS.weekly)
})

describe('CITATION.cff', () => {
  const schema = JSON.parse(readFileSync(new URL('../../vendor/cff-1.2.0.schema.json', import.meta.url), 'utf8'))
  const Citation = z.fromJSONSchema({ ...schema, $schema: 'http://json-schema.org/draft-07/schema#' })

  it('is valid under the JSON Schema of the Citation File Format', () => {
    expect(Citation.safeParse(describeCitation(DATASET)).error).toBeUndefined()
    const hostile = describeCitation(describeDataset(manifestOf({ publisher: HOSTILE })))
    expect(Citation.safeParse(hostile).error).toBeUndefined()
    expect(Citation.safeParse({ ...describeCitation(DATASET), license: 'CC' }).success).toBe(false)
  })

  it('has only quoted scalars, whatever the publisher is called', () => {
    const text = renderCitationFile(describeDataset(manifestOf({ publisher: HOSTILE })))
    for (const line of text.trimEnd().split('\n')) {
      const [, value] = /^(?: {2}- | {4})?(?:[a-z-]+:)? ?(.*)$/.exec(line) ?? []
      if (value !== '') expect(typeof JSON.parse(value ?? ''), line).toBe('string')
    }
    expect(text).not.toMatch(/[\u0085\u2028]/)
    expect(text).toContain('\u{1f600}')
  })
})

it('citation.bib escapes all special characters of TeX, and leaves a DOI as it is', () => {
  const text = renderBibtex(describeDataset(manifestOf({ publisher: HOSTILE }), '10.1234/a_b'))
  expect(text).toContain(
    'author = {{A \\& B \\textbraceleft{}C\\textbraceright{} \\textbackslash{} "D" \\% \\# 100\\_\\$ \\textasciitilde{}\\textasciicircum{} ',
  )
  expect(text).toContain('  doi = {10.1234/a_b},\n')
})

it.each(['{', '}', '}{', '\\{'])('citation.bib has balanced braces with %s in a name and a title', (brace) => {
  const publisher = { ...PUBLISHER, name: `Acme ${brace}`, title: `${brace} tokens` }
  const text = renderBibtex(describeDataset(manifestOf({ publisher })))
  const depths = [...text.matchAll(/[{}]/g)].map((_, position, all) =>
    all.slice(0, position + 1).reduce((depth, [each]) => depth + (each === '{' ? 1 : -1), 0),
  )
  expect(depths.indexOf(0)).toBe(depths.length - 1)
})

test('the JSON-LD of a page cannot close its script element', () => {
  const value = { text: '</script><!-- & \u2028 \u2029 "' }
  expect(toScriptJson(value)).not.toMatch(/[<>&\u2028\u2029]/)
  expect(JSON.parse(toScriptJson(value))).toEqual(value)
})

it('the README has no heading from the words of the publisher', () => {
  const trap = (text: string) => `\n# ${text}\r\n\n## Motivation\n`
  const { name, title, contact, description } = PUBLISHER
  const publisher = { ...PUBLISHER, name: trap(name), title: trap(title), contact: trap(contact) }
  const manifest = manifestOf({ publisher: { ...publisher, description: trap(description) } })
  const trapped = renderReadme({ ...describeDataset(manifest), attribution: trap('Acme') })
  const headings = (text: string) => text.split(/[\r\n]+/).filter((line) => line.startsWith('#'))
  expect(headings(trapped).slice(1)).toEqual(headings(renderReadme(DATASET)).slice(1))
})
