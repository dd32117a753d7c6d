/** Every document of a release says the same, and what its standard asks for. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Manifest } from '../../../pipeline/contract/manifest.ts'
import { citation } from '../../../pipeline/release/documents/bibtex.ts'
import { describeCitation, renderCitationFile } from '../../../pipeline/release/documents/citation-file.ts'
import { renderCroissant, renderLiveCroissant } from '../../../pipeline/release/documents/croissant.ts'
import { renderDataPackage } from '../../../pipeline/release/documents/datapackage.ts'
import { renderDcat, renderDcatCatalog } from '../../../pipeline/release/documents/dcat.ts'
import { describeDataset } from '../../../pipeline/release/documents/describe.ts'
import { renderDocuments } from '../../../pipeline/release/documents/documents.ts'
import { renderReadme } from '../../../pipeline/release/documents/readme.ts'
import { schemaOrgDataset, toScriptJson } from '../../../pipeline/release/documents/schema-org.ts'
import { manifestOf, PUBLISHER } from '../../support/manifest.ts'

const MANIFEST = manifestOf()
const DATASET = describeDataset(MANIFEST)
const DESCRIBED = MANIFEST.files.filter(({ path }) => path !== 'croissant.json')
const RELEASE = 'datasets/rankings-daily/v1/releases/20261120T001200Z/'
const ISO_INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/

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
    ['catalogue', JSON.stringify(renderDcatCatalog(dataset, { release: RELEASE, series: 'v1/' }))],
    ['page', toScriptJson(schemaOrgDataset(dataset, RELEASE))],
  ]
}

describe('every document', () => {
  it('has the same bytes for the same release', () => {
    expect(renderDocuments(describeDataset(manifestOf()))).toEqual(renderDocuments(DATASET))
  })

  it.each(allTexts(MANIFEST))('%s names the title, the release, the content and the attribution', (name, text) => {
    expect(text).toContain('Tokens per model')
    expect(text).toContain(MANIFEST.release)
    if (!name.includes('cat')) expect(text).toContain(MANIFEST.content_hash)
    expect(text).toMatch(/CC-BY-4\.0|creativecommons\.org\/licenses\/by\/4\.0/)
    if (name !== 'citation.bib') expect(text).toContain('as of 2026-11-20T00:12:00Z.')
  })

  it.each(allTexts(manifestOf({ synthetic: true })))('%s says that made-up data is', (_, text) => {
    expect(text).toMatch(/synthetic sample/i)
    expect(text).toContain('describes no real usage')
  })

  it.each(allTexts(MANIFEST))('%s says nothing of it of real data', (_, text) => {
    expect(text).not.toMatch(/synthetic sample/i)
  })

  it.each(allTexts(manifestOf({ publisher: HOSTILE })).filter(([name]) => /json|page|cat/.test(name)))(
    '%s stays JSON whatever the publisher is called',
    (_, text) => expect(text.trimStart().startsWith('{') && typeof JSON.parse(text)).toBe('object'),
  )
})

describe('datapackage.json', () => {
  const TableSchema = z.strictObject({
    $schema: z.literal('https://datapackage.org/profiles/2.0/tableschema.json'),
    fields: z
      .array(
        z.object({
          name: z.string().min(1),
          type: z.enum(['date', 'string', 'integer']),
          title: z.string().min(1),
          description: z.string().min(20),
          unit: z.string().min(1),
          constraints: z.object({ required: z.boolean() }),
        }),
      )
      .min(1),
    fieldsMatch: z.literal('exact'),
    primaryKey: z.array(z.string()).min(1),
    missingValues: z.array(z.string()),
  })
  const DataPackage = z.object({
    $schema: z.literal('https://datapackage.org/profiles/2.0/datapackage.json'),
    name: z.string().regex(/^[a-z0-9._/-]+$/),
    title: z.string().min(1),
    description: z.string().min(1),
    homepage: z.url(),
    version: z.string().regex(/^\d+\.\d+\.\d+$/),
    created: z.string().regex(ISO_INSTANT),
    keywords: z.array(z.string().min(1)).min(1),
    licenses: z.array(z.object({ name: z.literal('CC-BY-4.0'), path: z.url(), title: z.string() })).length(1),
    sources: z.array(z.object({ title: z.string(), path: z.url() })).min(1),
    contributors: z.array(z.object({ title: z.string(), path: z.url(), roles: z.array(z.string()).min(1) })).min(1),
    resources: z
      .array(
        z.object({
          $schema: z.literal('https://datapackage.org/profiles/2.0/dataresource.json'),
          name: z.string().regex(/^[a-z0-9._/-]+$/),
          path: z.string().regex(/^[^./~][^:]*$/),
          type: z.literal('table').optional(),
          format: z.string(),
          mediatype: z.string().regex(/^.+\/.+$/),
          bytes: z.int().positive().optional(),
          hash: z.string().regex(/^sha256:[0-9a-f]{64}$/),
          schema: TableSchema.optional(),
        }),
      )
      .min(1),
  })
  const { resources, ...rest } = DataPackage.parse(renderDataPackage(DATASET))

  it('describes each file once, by its checksum', () => {
    expect(resources.map(({ path, hash }) => `${path} ${hash}`)).toEqual(
      DESCRIBED.map(({ path, sha256 }) => `${path} sha256:${sha256}`),
    )
    expect(new Set(resources.map(({ name }) => name)).size).toBe(resources.length)
  })

  it('has the version of the data, which is 1.0.0 where the manifest has none', () => {
    expect(rest.version).toBe('1.4.0')
    const { data_version: _, ...older } = MANIFEST
    expect(renderDataPackage(describeDataset(older))).toMatchObject({ version: '1.0.0' })
  })

  it('gives every table its columns, key and missing values', () => {
    const tables = resources.filter(({ schema }) => schema !== undefined)
    expect(tables.map(({ path }) => path)).toEqual([
      'rankings-daily.parquet',
      'rankings-daily.csv',
      'rankings-daily.csv.gz',
      'rankings-daily.ndjson.gz',
      'changes.csv',
    ])
    for (const { schema, type } of tables) {
      expect(type).toBe('table')
      const names = schema?.fields.map(({ name }) => name)
      expect(names).toEqual(expect.arrayContaining(schema?.primaryKey ?? []))
    }
    expect(tables[1]?.schema?.fields.map(({ name }) => name)).toEqual(['date', 'model_permaslug', 'total_tokens'])
    expect(tables[1]?.schema?.missingValues).toEqual([])
    expect(tables.at(-1)?.schema?.missingValues).toEqual([''])
  })

  it('leaves out an address that is none', () => {
    const described = renderDataPackage(describeDataset(manifestOf({ publisher: HOSTILE })))
    expect(described).toMatchObject({ contributors: [expect.not.objectContaining({ email: expect.anything() })] })
  })
})

describe('croissant.json', () => {
  const FileObject = z.object({
    '@type': z.literal('cr:FileObject'),
    '@id': z.string(),
    name: z.string(),
    contentUrl: z.string(),
    encodingFormat: z.union([z.string(), z.array(z.string())]),
    sha256: z.string().optional(),
    contentSize: z.string().optional(),
  })
  const Field = z.object({
    '@type': z.literal('cr:Field'),
    '@id': z.string(),
    dataType: z.enum(['sc:Date', 'sc:Text', 'cr:Int64']),
    description: z.string().min(1),
    source: z.object({ fileObject: z.object({ '@id': z.string() }), extract: z.object({ column: z.string() }) }),
  })
  const Croissant = z.object({
    '@context': z.record(z.string(), z.unknown()),
    '@type': z.literal('sc:Dataset'),
    conformsTo: z.literal('http://mlcommons.org/croissant/1.1'),
    name: z.string(),
    description: z.string(),
    license: z.url(),
    url: z.url(),
    creator: z.object({ '@type': z.literal('sc:Organization'), name: z.string(), url: z.url() }),
    datePublished: z.string().regex(ISO_INSTANT),
    version: z.string().regex(/^\d+\.\d+\.\d+$/),
    isLiveDataset: z.boolean(),
    distribution: z.array(FileObject).min(1),
    recordSet: z.array(
      z.object({
        '@type': z.literal('cr:RecordSet'),
        '@id': z.string(),
        key: z.array(z.object({ '@id': z.string() })),
        field: z.array(Field).min(1),
      }),
    ),
  })
  const release = Croissant.parse(renderCroissant(DATASET))
  const live = Croissant.parse(renderLiveCroissant(DATASET, 'latest/'))

  it('of a release has every checksum and its data version, and is not live', () => {
    expect(release.isLiveDataset).toBe(false)
    expect(release.version).toBe('1.4.0')
    expect(release.distribution.map((file) => `${file.contentUrl} ${file.sha256} ${file.contentSize}`)).toEqual(
      DESCRIBED.map(({ path, sha256, bytes }) => `${path} ${sha256} ${bytes} B`),
    )
  })

  it('beside the releases is live, without checksums, and keeps its version from release to release', () => {
    expect(live.isLiveDataset).toBe(true)
    expect(live.version).toBe('1.0.0')
    for (const file of live.distribution) {
      expect(file.contentUrl).toMatch(/^latest\//)
      expect(file).not.toHaveProperty('sha256')
      expect(file).not.toHaveProperty('contentSize')
    }
  })

  it.each([
    ['a release', release],
    ['what is live', live],
  ])('of %s reads the rows from Parquet and CSV by their columns', (_, { distribution, recordSet }) => {
    const files = new Set(distribution.map((file) => file['@id']))
    expect(recordSet.map((set) => set['@id'])).toEqual(['rankings-daily-parquet', 'rankings-daily-csv'])
    for (const { key, field } of recordSet) {
      const fields = new Set(field.map((each) => each['@id']))
      expect(fields.size).toBe(field.length)
      for (const each of key) expect(fields).toContain(each['@id'])
      for (const { source } of field) expect(files).toContain(source.fileObject['@id'])
    }
  })

  it('uses no term of Croissant that its context does not know', () => {
    const terms = ['conformsTo', 'recordSet', 'field', 'dataType', 'source', 'fileObject', 'extract', 'column', 'key']
    expect(Object.keys(release['@context'])).toEqual(expect.arrayContaining([...terms, 'isLiveDataset', 'citeAs']))
  })
})

describe('CITATION.cff', () => {
  const schema = JSON.parse(readFileSync(new URL('../../vendor/cff-1.2.0.schema.json', import.meta.url), 'utf8'))
  const Citation = z.fromJSONSchema({ ...schema, $schema: 'http://json-schema.org/draft-07/schema#' })

  it('fits the JSON Schema of the format', () => {
    expect(Citation.safeParse(describeCitation(DATASET)).error).toBeUndefined()
    expect(
      Citation.safeParse(describeCitation(describeDataset(manifestOf({ publisher: HOSTILE })))).error,
    ).toBeUndefined()
  })

  it('would be refused by that schema with another licence or without an author', () => {
    expect(Citation.safeParse({ ...describeCitation(DATASET), license: 'CC' }).success).toBe(false)
    expect(Citation.safeParse({ ...describeCitation(DATASET), authors: [] }).success).toBe(false)
  })

  it('is a dataset of the release, dated by its as_of', () => {
    expect(describeCitation(DATASET)).toMatchObject({
      type: 'dataset',
      version: MANIFEST.release,
      'date-released': '2026-11-20',
    })
  })

  it('is YAML of quoted scalars alone, whatever the publisher is called', () => {
    const text = renderCitationFile(describeDataset(manifestOf({ publisher: HOSTILE })))
    for (const line of text.trimEnd().split('\n')) {
      const [, value] = /^(?: {2}- | {4})?(?:[a-z-]+:)? ?(.*)$/.exec(line) ?? []
      if (value !== '') expect(typeof JSON.parse(value ?? ''), line).toBe('string')
    }
    expect(text).not.toMatch(/[\u0085\u2028]/)
    expect(text).toContain('\u{1f600}')
  })
})

describe('citation.bib', () => {
  it('is one entry that names publisher, title, version and address', () => {
    expect(citation(DATASET)).toMatch(/^@misc\{acmegateway_rankings_daily_20261120T001200Z,\n( {2}\w+ = .+\n)+\}\n$/)
    expect(citation(DATASET)).toContain('author = {{Acme Gateway}}')
    expect(citation(DATASET)).toContain('month = nov,')
  })

  it('escapes what would be a command', () => {
    const text = citation(describeDataset(manifestOf({ publisher: HOSTILE })))
    expect(text).toContain(
      'author = {{A \\& B \\{C\\} \\textbackslash{} "D" \\% \\# 100\\_\\$ \\textasciitilde{}\\textasciicircum{} ',
    )
    const unescaped = text.replaceAll(/\\[{}]/g, '')
    expect(unescaped.split('{').length).toBe(unescaped.split('}').length)
  })
})

describe('dcat.jsonld', () => {
  const Link = z.object({ '@id': z.string() })
  const Distribution = z.object({
    '@type': z.literal('dcat:Distribution'),
    'dcat:accessURL': Link,
    'dcat:downloadURL': Link,
    'dcat:mediaType': z.object({ '@id': z.string().regex(/^https:\/\/www\.iana\.org\/assignments\/media-types\/\w/) }),
    'dcat:byteSize': z.object({ '@type': z.literal('xsd:nonNegativeInteger'), '@value': z.string().regex(/^\d+$/) }),
    'dct:license': Link,
    'spdx:checksum': z.object({
      'spdx:algorithm': z.object({ '@id': z.literal('spdx:checksumAlgorithm_sha256') }),
      'spdx:checksumValue': z.object({ '@type': z.literal('xsd:hexBinary'), '@value': z.string() }),
    }),
  })
  const Dataset = z.object({
    '@type': z.literal('dcat:Dataset'),
    'dct:title': z.object({ '@value': z.string() }),
    'dct:description': z.object({ '@value': z.string() }),
    'dct:publisher': z.object({ 'foaf:name': z.string() }),
    'dct:license': Link,
    'dct:temporal': z.object({ 'dcat:startDate': z.object({}), 'dcat:endDate': z.object({}) }),
    'dcat:version': z.literal('1.4.0'),
    'dcat:inSeries': Link,
    'dcat:contactPoint': z.object({ 'vcard:fn': z.string(), 'vcard:hasEmail': Link }),
    'dcat:distribution': z.array(Distribution),
  })

  it('of a release has its files, by links relative to itself', () => {
    const { 'dcat:distribution': files } = Dataset.parse(renderDcat(DATASET))
    expect(files.map((file) => file['dcat:downloadURL']['@id'])).toEqual(DESCRIBED.map(({ path }) => path))
    expect(files.map((file) => file['spdx:checksum']['spdx:checksumValue']['@value'])).toEqual(
      DESCRIBED.map(({ sha256 }) => sha256),
    )
  })

  it('of the public folder is a catalogue with the series and the current release', () => {
    const Catalog = z.object({
      '@type': z.literal('dcat:Catalog'),
      'dcat:dataset': z.tuple([
        z.object({ '@id': z.literal('v1/'), '@type': z.literal('dcat:DatasetSeries') }),
        Dataset,
      ]),
    })
    const catalog = Catalog.parse(renderDcatCatalog(DATASET, { release: RELEASE, series: 'v1/' }))
    const [, dataset] = catalog['dcat:dataset']
    expect(dataset['dcat:inSeries']['@id']).toBe('v1/')
    expect(dataset['dcat:distribution'][0]?.['dcat:downloadURL']['@id']).toBe(`${RELEASE}rankings-daily.parquet`)
  })
})

describe('the structured data of a page', () => {
  it('has what Google Dataset Search requires and recommends', () => {
    const Dataset = z.object({
      '@context': z.literal('https://schema.org/'),
      '@type': z.literal('Dataset'),
      name: z.string().min(1),
      description: z.string().min(50).max(5000),
      alternateName: z.string(),
      creator: z.object({ '@type': z.literal('Organization'), name: z.string(), url: z.url() }),
      identifier: z.array(z.string()).min(1),
      isAccessibleForFree: z.literal(true),
      keywords: z.array(z.string()).min(1),
      license: z.url(),
      measurementTechnique: z.string(),
      temporalCoverage: z.literal('2025-01-01/2026-11-19'),
      variableMeasured: z.array(z.object({ '@type': z.literal('PropertyValue'), name: z.string() })).length(3),
      version: z.literal('1.4.0'),
      url: z.url(),
      includedInDataCatalog: z.object({ '@type': z.literal('DataCatalog'), name: z.string() }),
      distribution: z
        .array(
          z.object({ '@type': z.literal('DataDownload'), contentUrl: z.string(), encodingFormat: z.string().min(1) }),
        )
        .length(DESCRIBED.length),
    })
    expect(Dataset.safeParse(schemaOrgDataset(DATASET, RELEASE)).error).toBeUndefined()
  })

  it('cannot leave its script', () => {
    const value = { text: '</script><!-- & \u2028 \u2029 "' }
    expect(toScriptJson(value)).not.toMatch(/[<>&\u2028\u2029]/)
    expect(JSON.parse(toScriptJson(value))).toEqual(value)
  })
})

describe('README.md', () => {
  const readme = renderReadme(DATASET)

  it('lists files with rows and bytes, columns, caveats, and how to check and cite', () => {
    for (const { path, bytes } of DESCRIBED)
      expect(readme).toMatch(new RegExp(`\\| \`${path}\` \\| \\d* \\| ${bytes} \\|`))
    for (const { name } of DATASET.fields) expect(readme).toContain(`| \`${name}\` |`)
    for (const { text } of DATASET.caveats) expect(readme).toContain(text)
    expect(readme).toContain('sha256sum --check SHA256SUMS')
    expect(readme).toContain(citation(DATASET))
    expect(readme).toContain(DATASET.attribution)
  })

  it('warns of tokenizers, provisional days, UTC and the rest', () => {
    expect(readme).toMatch(/own tokenizer/)
    expect(readme).toMatch(/from 2026-11-17 on are provisional/)
    expect(readme).toMatch(/UTC calendar days/)
    expect(readme).toMatch(/at most 50 models/)
  })
})
