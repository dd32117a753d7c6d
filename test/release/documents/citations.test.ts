/** What cites a release: every format says the same and leads to the same address, whatever the publisher is called. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Manifest } from '../../../pipeline/contract/manifest.ts'
import { renderBibtex } from '../../../pipeline/release/documents/bibtex.ts'
import { citationSentence } from '../../../pipeline/release/documents/citation.ts'
import { renderCitationFile } from '../../../pipeline/release/documents/citation-file.ts'
import { renderCroissant, renderLiveCroissant } from '../../../pipeline/release/documents/croissant.ts'
import { renderDataPackage } from '../../../pipeline/release/documents/datapackage.ts'
import { renderDcat } from '../../../pipeline/release/documents/dcat.ts'
import { describeDataset } from '../../../pipeline/release/documents/describe.ts'
import { licenseText } from '../../../pipeline/release/documents/license.ts'
import { schemaOrgDataset, toScriptJson } from '../../../pipeline/release/documents/schema-org.ts'
import { releasePage } from '../../../pipeline/site/release-page.ts'
import { manifestOf, PUBLISHER } from '../../support/manifest.ts'

const PAGE = 'https://data.acme.example/datasets/rankings-daily/v1/releases/20261120T001200Z/'
const [DOI, CONCEPT_DOI] = ['10.5281/zenodo.1234567', '10.5281/zenodo.1234566']
const ROR = 'https://ror.org/01bj3aw27'

/** A publisher whose every word is a trap for some format, and its name as each format must give it back. */
const HOSTILE = {
  ...PUBLISHER,
  name: 'A & B {C} \\ "D" %\r\nER  - \u0085# 100_$ ~^ </script><!-- | `x`, Inc.',
  title: "- key: [value] 'é' \u2028 @dataset{x,\nTY  - BOOK \u{1f600}",
}
const HOSTILE_NAME = 'A & B {C} \\ "D" % ER - # 100_$ ~^ </script><!-- | `x`, Inc.'
const HOSTILE_TITLE = "- key: [value] 'é' @dataset{x, TY - BOOK \u{1f600}"

function described(changes: Partial<Manifest> = {}, doi?: string) {
  return describeDataset(manifestOf(changes), doi)
}

/** The value of a field, without the escapes of TeX. */
function readBibtex(text: string, name: string): string | undefined {
  const value = new RegExp(`^  ${name} = (.*?),?$`, 'm').exec(text)?.[1]?.replaceAll(/^\{+(?=.)|\}+$/g, '')
  const named = value?.replaceAll(
    /\\text(backslash|asciitilde|asciicircum|asciigrave|braceleft|braceright)\{\}/g,
    (_, each: string) => TEX[each] ?? '',
  )
  return named?.replaceAll(/\\([&%$#_])/g, '$1')
}

const TEX: Record<string, string> = {
  ...{ backslash: '\\', asciitilde: '~', asciicircum: '^', asciigrave: '`' },
  ...{ braceleft: '{', braceright: '}' },
}

/** Where each format leads, under its name. */
function addresses(dataset: ReturnType<typeof described>): Record<string, unknown> {
  const dcat = renderDcat(dataset) as Record<string, unknown>
  return {
    text: citationSentence(dataset).split(' ').at(-1),
    cff: JSON.parse(/^url: (.*)$/m.exec(renderCitationFile(dataset))?.[1] ?? ''),
    bibtex: readBibtex(renderBibtex(dataset), 'url'),
    schema_org: (schemaOrgDataset(dataset, '') as { url: string }).url,
    dcat: (dcat['dct:identifier'] as string[])[0],
    croissant: (renderCroissant(dataset) as { url: string }).url,
    data_package: (renderDataPackage(dataset) as { id: string }).id,
  }
}

describe('every citation of a release', () => {
  it('leads to the page of the release, and to its DOI as soon as there is one', () => {
    for (const [format, address] of Object.entries(addresses(described()))) expect(address, format).toBe(PAGE)
    const deposited = addresses(described({ concept_doi: CONCEPT_DOI }, DOI))
    for (const [format, address] of Object.entries(deposited)) expect(address, format).toBe(`https://doi.org/${DOI}`)
  })

  it('names the DOI in the field that its format has for it', () => {
    const dataset = described({ concept_doi: CONCEPT_DOI }, DOI)
    expect(renderBibtex(dataset)).toContain(`  doi = {${DOI}},\n`)
    expect(renderCitationFile(dataset)).toContain(`\ndoi: "${DOI}"\n`)
    expect(renderCitationFile(dataset)).toContain(`value: "${CONCEPT_DOI}"`)
    expect(renderCroissant(dataset)).toMatchObject({ identifier: expect.arrayContaining([`https://doi.org/${DOI}`]) })
    const whole = { name: PUBLISHER.title, description: PUBLISHER.description }
    expect(schemaOrgDataset(dataset, '')).toMatchObject({ isPartOf: whole })
  })

  it('gives back names and titles with every special character, on one line', () => {
    const dataset = described({ publisher: HOSTILE })
    expect(citationSentence(dataset)).toBe(
      `${HOSTILE_NAME} (2026). ${HOSTILE_TITLE}, release 20261120T001200Z, data version 1.4.0 [Data set]. ${PAGE}`,
    )
    const cff = renderCitationFile(dataset)
    expect(JSON.parse(/^title: (.*)$/m.exec(cff)?.[1] ?? '')).toBe(HOSTILE_TITLE)
    expect(JSON.parse(/^ {2}- name: (.*)$/m.exec(cff)?.[1] ?? '')).toBe(HOSTILE_NAME)
    const bibtex = renderBibtex(dataset)
    expect([readBibtex(bibtex, 'author'), readBibtex(bibtex, 'title')]).toEqual([HOSTILE_NAME, HOSTILE_TITLE])
    expect(bibtex.match(/^@/gm)).toHaveLength(1)
    const script = toScriptJson(schemaOrgDataset(dataset, ''))
    expect(script).not.toContain('<')
    expect(JSON.parse(script)).toMatchObject({ name: HOSTILE.title, creator: { name: HOSTILE.name } })
  })
})

it('dcat.jsonld names the organization by its address in the Research Organization Registry, and the version before', () => {
  const changes = { previous: '20261119T001200Z', facts: [], reason: 'unspecified' as const, note: null }
  const place = { '@id': '../20261119T001200Z/' }
  expect(renderDcat(described({ publisher: { ...PUBLISHER, ror: ROR }, changes }))).toMatchObject({
    'dct:publisher': { '@id': ROR },
    'dcat:prev': place,
    'dcat:previousVersion': place,
  })
  expect(renderDcat(described())).not.toHaveProperty('dcat:prev')
})

describe('croissant.json', () => {
  const Croissant = z.looseObject({
    conformsTo: z.array(z.string()),
    recordSet: z.array(
      z.looseObject({ '@id': z.string(), field: z.array(z.looseObject({ name: z.string(), dataType: z.string() })) }),
    ),
  })

  it('has a record set for each plain file with columns, without numbers that its reader would round', () => {
    const { recordSet } = Croissant.parse(renderCroissant(described()))
    const fields = Object.fromEntries(recordSet.map((set) => [set['@id'], set.field.map(({ name }) => name)]))
    expect(Object.keys(fields)).toEqual([
      ...['rankings-daily-parquet', 'rankings-daily-csv', 'rankings-weekly-parquet', 'rankings-weekly-csv'],
      ...['changes-csv', 'changes-weekly-csv'],
    ])
    expect(fields['changes-csv']).toEqual(['op', 'date', 'model_permaslug'])
    expect(fields['changes-weekly-csv']).toEqual(['op', 'date', 'model_permaslug', 'days_before', 'days_after'])
  })

  it('answers what the vocabulary for responsible AI asks, and nothing that the publisher did not say', () => {
    const { conformsTo, ...silent } = Croissant.parse(renderCroissant(described()))
    expect(conformsTo).toContain('http://mlcommons.org/croissant/RAI/1.0')
    expect(silent['rai:personalSensitiveInformation']).toMatch(/may be the usage of a single customer is not said\.$/)
    const datasheet = { consent: 'Users were told.', retention: 'Releases stay.' }
    const said = renderCroissant(described({ publisher: { ...PUBLISHER, datasheet }, disclosure: 'none' }))
    expect(said).toMatchObject({
      'rai:personalSensitiveInformation': expect.stringMatching(
        /No disclosure control was applied.*Users were told\.$/,
      ),
      'rai:dataReleaseMaintenancePlan': expect.stringMatching(/ Releases stay\.$/),
    })
  })

  it('leads from the live description to the publisher', () => {
    expect(renderLiveCroissant(described(), 'latest/')).toMatchObject({ url: PUBLISHER.url })
  })
})

it('LICENSE has the credit to give and the whole legal code', () => {
  const text = licenseText('Source: Acme.', false)
  expect(text).toMatch(/give credit:\nSource: Acme\.\n/)
  expect(text.endsWith(readFileSync(new URL('../../../LICENSE-DATA', import.meta.url), 'utf8'))).toBe(true)
})

it('the page of a release has its description as JSON-LD and its citation first', () => {
  const manifest = manifestOf()
  const facts = { rows: [], changes: { daily: [] }, quality: undefined }
  const text = String(releasePage(manifest, facts).text)
  const [, json = ''] = /<script type="application\/ld\+json">(.*?)<\/script>/s.exec(text) ?? []
  expect(JSON.parse(json)).toEqual(schemaOrgDataset(describeDataset(manifest), ''))
  const [, cited = ''] = text.split('<h2 id="cite">')
  expect(cited).toMatch(new RegExp(`^[^<]*</h2>\\n<p>Acme Gateway \\(2026\\).*${RegExp.escape(PAGE)}</p>\\n<pre`))
})
