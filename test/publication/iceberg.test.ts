/** The Iceberg table of some releases, without files: what its readers are told. See also test/clients/iceberg.test.ts. */
import { expect, it } from 'vitest'
import type { Coverage } from '../../pipeline/contract/ledger.ts'
import type { Manifest, ReleaseEntry, ReleaseIndex } from '../../pipeline/contract/manifest.ts'
import { ICEBERG_FOLDER, ICEBERG_PATH } from '../../pipeline/contract/published-paths.ts'
import { icebergEntries, liesAt, listedSizes } from '../../pipeline/publication/iceberg.ts'
import { publication } from '../../pipeline/publication/publication.ts'
import { appendRelease, EMPTY_INDEX } from '../../pipeline/release/index.ts'
import { NO_RESTATEMENTS } from '../../pipeline/release/ledger.ts'
import { readAvro } from '../support/avro.ts'
import { manifestOf, PUBLISHER } from '../support/manifest.ts'

const NAMES = ['20261117T001200Z', '20261118T001200Z', '20261119T001200Z', '20261120T001200Z'] as const
const [FIRST, SECOND, THIRD, FOURTH] = NAMES
const RELEASES = 'https://data.acme.example/datasets/rankings-daily/v1/releases'
const METADATA = 'https://data.acme.example/datasets/rankings-daily/v1/iceberg/metadata'

const MANIFESTS = new Map(NAMES.map((release) => [release as string, manifestAt(release)]))
const INDEX = [...MANIFESTS.values()].reduce(
  (index, manifest) => appendRelease(index, manifest, 'ab'.repeat(32)),
  EMPTY_INDEX,
)

function manifestAt(release: string, changes: Partial<Manifest> = {}): Manifest {
  const as_of = `2026-11-${release.slice(6, 8)}T00:12:00Z`
  return manifestOf({ release, as_of, rows: Number(release.slice(6, 8)), ...changes })
}

/** The index, in which some entries say more. */
function indexWith(changes: Record<string, Partial<ReleaseEntry>>): ReleaseIndex {
  return { ...INDEX, releases: INDEX.releases.map((entry) => ({ ...entry, ...changes[entry.release] })) }
}

function tableOf(index: ReleaseIndex, url = PUBLISHER.url): Map<string, Buffer> {
  const current = manifestAt(FOURTH)
  const entries = icebergEntries({ index, sizes: listedSizes(MANIFESTS), current, site: { url } })
  return new Map(entries.map(({ path, text }) => [path.slice(ICEBERG_FOLDER.length + 1), Buffer.from(text())]))
}

function metadataOf(table: ReadonlyMap<string, Buffer>) {
  return JSON.parse(String(table.get('metadata/v1.metadata.json')))
}

it('has a snapshot for each release, whose one file is the daily Parquet file of the release', () => {
  const table = tableOf(INDEX)
  const metadata = metadataOf(table)
  expect(metadata.snapshots.map((each: { 'snapshot-id': number }) => each['snapshot-id'])).toEqual(
    NAMES.map((name) => Number(name.replaceAll(/\D/g, ''))),
  )
  expect(metadata.snapshots[1]).toMatchObject({
    'parent-snapshot-id': 20261117001200,
    'sequence-number': 2,
    'timestamp-ms': Date.parse('2026-11-18T00:12:00Z'),
    'manifest-list': `${METADATA}/snap-${SECOND}.avro`,
    summary: { operation: 'overwrite', release: SECOND, 'total-records': '18' },
  })
  expect(metadata.refs[THIRD]).toEqual({ 'snapshot-id': 20261119001200, type: 'tag' })
  expect(metadata.refs.main['snapshot-id']).toBe(metadata['current-snapshot-id'])
  const manifest = table.get(`metadata/${SECOND}-m0.avro`) ?? Buffer.alloc(0)
  expect(readAvro(manifest).records).toEqual([
    {
      status: 1,
      snapshot_id: 20261118001200,
      sequence_number: 2,
      file_sequence_number: 2,
      data_file: {
        content: 0,
        file_path: `${RELEASES}/${SECOND}/rankings-daily.parquet`,
        file_format: 'PARQUET',
        partition: {},
        record_count: 18,
        file_size_in_bytes: 1000,
      },
    },
  ])
  expect(readAvro(table.get(`metadata/snap-${SECOND}.avro`) ?? Buffer.alloc(0)).records).toMatchObject([
    {
      manifest_path: `${METADATA}/${SECOND}-m0.avro`,
      manifest_length: manifest.length,
      sequence_number: 2,
      added_rows_count: 18,
    },
  ])
})

it('expires the snapshots of dropped and withdrawn releases, and leaves the files of the others as they are', () => {
  const whole = tableOf(INDEX)
  const rest = tableOf(indexWith({ [FIRST]: { dropped: true }, [THIRD]: { status: 'withdrawn' } }))
  const names = [SECOND, FOURTH].flatMap((name) => [`metadata/${name}-m0.avro`, `metadata/snap-${name}.avro`])
  expect([...rest.keys()]).toEqual([...names, 'metadata/v1.metadata.json'])
  for (const name of names) expect(rest.get(name)).toEqual(whole.get(name))
  const metadata = metadataOf(rest)
  expect(Object.keys(metadata.refs)).toEqual(['main', SECOND, FOURTH])
  expect(metadata['table-uuid']).toBe(metadataOf(whole)['table-uuid'])
  for (const gone of [FIRST, THIRD]) expect(String(rest.get('metadata/v1.metadata.json'))).not.toContain(gone)
})

it('is the same table at another address, which all its files tell', () => {
  const url = 's3://bucket/tokens'
  const [table, mirror] = [tableOf(INDEX), tableOf(INDEX, url)]
  const texts = [...mirror.values()].map((bytes) => bytes.toString('latin1'))
  for (const text of texts) expect(text).not.toContain('data.acme.example/datasets')
  expect(metadataOf(mirror)['table-uuid']).toBe(metadataOf(table)['table-uuid'])
  expect(metadataOf(mirror).location).toBe(`${url}/datasets/rankings-daily/v1/iceberg`)
  expect(texts.map((text) => liesAt(text, { url: `${url}/` })).at(-1)).toBe(true)
})

it('is not there if the publisher has the URL of the sample', () => {
  const coverage: Coverage = {
    dataset: 'rankings-daily',
    release: FOURTH,
    as_of: '2026-11-20T00:12:00Z',
    start_date: '2025-01-01',
    end_date: '2026-11-19',
    provisional_from: '2026-11-17',
    days: [],
    months: [],
  }
  const paths = (url: string) => {
    const manifests = new Map([[FOURTH as string, manifestAt(FOURTH, { publisher: { ...PUBLISHER, url } })]])
    const facts = { index: INDEX, manifests, coverage, restatements: NO_RESTATEMENTS, api: [], pages: [] }
    return publication(facts).map(({ path }) => path)
  }
  expect(paths('https://data.acme.example')).toContain(ICEBERG_PATH)
  expect(paths('https://example.org/tokens')).not.toContain(ICEBERG_PATH)
})
