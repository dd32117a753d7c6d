/** What cites a release: every format says the same and leads to the same address, whatever the publisher is called. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { citationText } from '../../../pipeline/contract/citation.ts'
import type { Manifest } from '../../../pipeline/contract/manifest.ts'
import { renderBibtex } from '../../../pipeline/release/documents/bibtex.ts'
import { citationOf, citationSentence } from '../../../pipeline/release/documents/citation.ts'
import { renderCitationFile } from '../../../pipeline/release/documents/citation-file.ts'
import { renderCroissant, renderLiveCroissant } from '../../../pipeline/release/documents/croissant.ts'
import { renderCsl } from '../../../pipeline/release/documents/csl.ts'
import { renderDatacite } from '../../../pipeline/release/documents/datacite.ts'
import { renderDataPackage } from '../../../pipeline/release/documents/datapackage.ts'
import { renderDcat } from '../../../pipeline/release/documents/dcat.ts'
import { describeDataset } from '../../../pipeline/release/documents/describe.ts'
import { licenseText } from '../../../pipeline/release/documents/license.ts'
import { renderRis } from '../../../pipeline/release/documents/ris.ts'
import { renderRoCrate } from '../../../pipeline/release/documents/ro-crate.ts'
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

const Organization = z.strictObject({
  name: z.string(),
  nameType: z.literal('Organizational'),
  nameIdentifiers: z
    .array(z.strictObject({ nameIdentifier: z.url(), nameIdentifierScheme: z.literal('ROR'), schemeUri: z.url() }))
    .optional(),
})

/** The parts of DataCite 4.6 that are used, and nothing else. */
const Datacite = z.strictObject({
  doi: z
    .string()
    .regex(/^10\.\d{4,9}\//)
    .optional(),
  url: z.url(),
  types: z.strictObject({ resourceTypeGeneral: z.literal('Dataset'), resourceType: z.string() }),
  creators: z.array(Organization).min(1),
  titles: z.array(z.strictObject({ title: z.string(), lang: z.literal('en') })).min(1),
  publisher: z.strictObject({
    name: z.string(),
    publisherIdentifier: z.url().optional(),
    publisherIdentifierScheme: z.literal('ROR').optional(),
    schemeUri: z.url().optional(),
  }),
  publicationYear: z.string().regex(/^\d{4}$/),
  subjects: z.array(z.strictObject({ subject: z.string(), lang: z.literal('en') })),
  dates: z.array(z.strictObject({ date: z.string(), dateType: z.enum(['Issued', 'Collected']) })),
  language: z.literal('en'),
  alternateIdentifiers: z.array(
    z.strictObject({ alternateIdentifier: z.string(), alternateIdentifierType: z.string() }),
  ),
  relatedIdentifiers: z.array(
    z.strictObject({
      relationType: z.enum(['IsVersionOf', 'IsNewVersionOf']),
      relatedIdentifier: z.string(),
      relatedIdentifierType: z.enum(['DOI', 'URL']),
      resourceTypeGeneral: z.literal('Dataset'),
    }),
  ),
  sizes: z.array(z.string()),
  formats: z.array(z.string().regex(/^[a-z]+\/[a-z0-9.+-]+$/)),
  version: z.string(),
  rightsList: z.array(
    z.strictObject({
      rights: z.string(),
      rightsUri: z.url(),
      rightsIdentifier: z.literal('CC-BY-4.0'),
      rightsIdentifierScheme: z.literal('SPDX'),
      schemeUri: z.url(),
      lang: z.literal('en'),
    }),
  ),
  descriptions: z.array(
    z.strictObject({
      description: z.string(),
      descriptionType: z.enum(['Abstract', 'Methods', 'TechnicalInfo', 'Other']),
      lang: z.literal('en'),
    }),
  ),
  schemaVersion: z.literal('http://datacite.org/schema/kernel-4'),
})

/** The parts of an item of CSL 1.0.2 that are used, and nothing else. */
const Csl = z.tuple([
  z.strictObject({
    id: z.string(),
    type: z.literal('dataset'),
    title: z.string(),
    author: z.array(z.strictObject({ literal: z.string() })).length(1),
    issued: z.strictObject({ 'date-parts': z.tuple([z.tuple([z.int(), z.int(), z.int()])]) }),
    publisher: z.string(),
    version: z.string(),
    DOI: z.string().optional(),
    URL: z.url(),
    language: z.string(),
    abstract: z.string(),
    keyword: z.string(),
    note: z.string(),
  }),
])

const Reference = z.object({ '@id': z.string() })
const Entity = z.looseObject({
  '@id': z.string(),
  name: z.string().optional(),
  publisher: Reference.optional(),
  hasPart: z.array(Reference).optional(),
})
const Graph = z.object({ '@context': z.string(), '@graph': z.array(Entity) })

function entitiesOf(dataset: Parameters<typeof renderRoCrate>[0]) {
  const { '@graph': entities } = Graph.parse(renderRoCrate(dataset))
  return new Map(entities.map((entity) => [entity['@id'], entity]))
}

/** The values of each tag. */
function readRis(text: string): Map<string, string[]> {
  const lines = text.trimEnd().split('\n')
  const values = lines.map((line) => /^([A-Z][A-Z0-9]) {2}- ?(.*)$/.exec(line) ?? [])
  return new Map(
    [...Map.groupBy(values, ([, tag = '']) => tag)].map(([tag, list]) => [tag, list.map((each) => each[2] ?? '')]),
  )
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
  const [csl] = Csl.parse(renderCsl(dataset))
  const dcat = renderDcat(dataset) as Record<string, unknown>
  return {
    text: citationSentence(dataset).split(' ').at(-1),
    cff: JSON.parse(/^url: (.*)$/m.exec(renderCitationFile(dataset))?.[1] ?? ''),
    bibtex: readBibtex(renderBibtex(dataset), 'url'),
    ris: readRis(renderRis(dataset)).get('UR')?.[0],
    csl: csl.URL,
    schema_org: (schemaOrgDataset(dataset, '') as { url: string }).url,
    dcat: (dcat['dct:identifier'] as string[])[0],
    croissant: (renderCroissant(dataset) as { url: string }).url,
    ro_crate: entitiesOf(dataset).get('./')?.['cite-as'],
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
    expect(readRis(renderRis(dataset)).get('DO')).toEqual([DOI])
    expect(Csl.parse(renderCsl(dataset))[0].DOI).toBe(DOI)
    expect(renderCitationFile(dataset)).toContain(`\ndoi: "${DOI}"\n`)
    expect(renderCitationFile(dataset)).toContain(`value: "${CONCEPT_DOI}"`)
    const { doi, url, relatedIdentifiers } = Datacite.parse(renderDatacite(dataset))
    expect({ doi, url }).toEqual({ doi: DOI, url: PAGE })
    const concept = { relationType: 'IsVersionOf', relatedIdentifier: CONCEPT_DOI, relatedIdentifierType: 'DOI' }
    expect(relatedIdentifiers).toEqual([{ ...concept, resourceTypeGeneral: 'Dataset' }])
    expect(renderCroissant(dataset)).toMatchObject({ identifier: expect.arrayContaining([`https://doi.org/${DOI}`]) })
    const whole = { name: PUBLISHER.title, description: PUBLISHER.description }
    expect(schemaOrgDataset(dataset, '')).toMatchObject({ isPartOf: whole })
  })

  it('gives back names and titles with every special character, on one line', () => {
    const dataset = described({ publisher: HOSTILE })
    expect(citationSentence(dataset)).toBe(
      `${HOSTILE_NAME} (2026). ${HOSTILE_TITLE}, release 20261120T001200Z, data version 1.4.0 [Data set]. ${PAGE}`,
    )
    const ris = readRis(renderRis(dataset))
    expect([ris.get('AU'), ris.get('TI'), ris.get('ER'), ris.get('TY')]).toEqual([
      [HOSTILE_NAME],
      [HOSTILE_TITLE],
      [''],
      ['DATA'],
    ])
    const [csl] = Csl.parse(JSON.parse(JSON.stringify(renderCsl(dataset))))
    expect([csl.author[0]?.literal, csl.title]).toEqual([HOSTILE_NAME, HOSTILE_TITLE])
    const datacite = Datacite.parse(renderDatacite(dataset))
    expect([datacite.creators[0]?.name, datacite.titles[0]?.title]).toEqual([HOSTILE_NAME, HOSTILE_TITLE])
    const cff = renderCitationFile(dataset)
    expect(JSON.parse(/^title: (.*)$/m.exec(cff)?.[1] ?? '')).toBe(HOSTILE_TITLE)
    expect(JSON.parse(/^ {2}- name: (.*)$/m.exec(cff)?.[1] ?? '')).toBe(HOSTILE_NAME)
    const bibtex = renderBibtex(dataset)
    expect([readBibtex(bibtex, 'author'), readBibtex(bibtex, 'title')]).toEqual([HOSTILE_NAME, HOSTILE_TITLE])
    expect(bibtex.match(/^@/gm)).toHaveLength(1)
    const script = toScriptJson(schemaOrgDataset(dataset, ''))
    expect(script).not.toContain('<')
    expect(JSON.parse(script)).toMatchObject({ name: HOSTILE.title, creator: { name: HOSTILE.name } })
    expect(entitiesOf(dataset).get('#publisher')?.name).toBe(HOSTILE_NAME)
  })
})

it('cites in one sentence', () => {
  const { author, year, title, data_version, url } = citationOf(described())
  const release = '20261120T001200Z'
  expect(citationText({ author, year, title, release, data_version, url })).toBe(
    `Acme Gateway (2026). Tokens per model, release ${release}, data version 1.4.0 [Data set]. ${PAGE}`,
  )
})

it('names the organization by its address in the Research Organization Registry', () => {
  const dataset = described({ publisher: { ...PUBLISHER, ror: ROR } })
  const { creators, publisher } = Datacite.parse(renderDatacite(dataset))
  expect(creators[0]?.nameIdentifiers?.[0]?.nameIdentifier).toBe(ROR)
  expect(publisher.publisherIdentifier).toBe(ROR)
  expect(entitiesOf(dataset).get('./')?.publisher).toEqual({ '@id': ROR })
  expect(renderDcat(dataset)).toMatchObject({ 'dct:publisher': { '@id': ROR } })
})

it('names the previous release as the version before', () => {
  const changes = { previous: '20261119T001200Z', facts: [], reason: 'unspecified' as const, note: null }
  const dataset = described({ changes })
  const previous = PAGE.replace('20261120', '20261119')
  expect(Datacite.parse(renderDatacite(dataset)).relatedIdentifiers).toEqual([
    expect.objectContaining({ relationType: 'IsNewVersionOf', relatedIdentifier: previous }),
  ])
  const place = { '@id': '../20261119T001200Z/' }
  expect(renderDcat(dataset)).toMatchObject({ 'dcat:prev': place, 'dcat:previousVersion': place })
  expect(renderDcat(described())).not.toHaveProperty('dcat:prev')
})

describe('ro-crate-metadata.json', () => {
  it('describes itself, the folder, and each file once', () => {
    const dataset = described()
    const entities = entitiesOf(dataset)
    const version = 'https://w3id.org/ro/crate/1.2'
    expect(entities.get('ro-crate-metadata.json')).toMatchObject({
      about: { '@id': './' },
      conformsTo: { '@id': version },
    })
    const parts = entities.get('./')?.hasPart ?? []
    expect(parts.length).toBeGreaterThan(dataset.files.length)
    expect(new Set(parts.map((part) => part['@id'])).size).toBe(parts.length)
    for (const { '@id': path } of parts) expect(entities.get(path), path).toMatchObject({ '@type': 'File' })
    for (const { path, bytes, sha256 } of dataset.files)
      expect(entities.get(path)).toMatchObject({ contentSize: String(bytes), sha256 })
  })

  it('refers only to what it describes', () => {
    const entities = entitiesOf(described())
    const text = JSON.stringify([...entities.values()])
    const ids = [...text.matchAll(/\{"@id":"([^"]+)"\}/g)].map(([, id = '']) => id)
    for (const id of ids.filter((each) => !each.startsWith('https://w3id.org/')))
      expect(entities.has(id), id).toBe(true)
  })
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
