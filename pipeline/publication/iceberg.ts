/**
 * The daily tables as one table of Apache Iceberg (format version 2), which databases read with its history: a snapshot
 * for each release that has its data files. Its only data files are the published Parquet files. It tells their
 * addresses, so it differs with the host.
 */
import { hash } from 'node:crypto'
import { z } from 'zod'
import { type AvroRecord, type AvroType, avroFile } from '../base/avro.ts'
import { BuildError } from '../base/errors.ts'
import { jsonIfAny, toJson } from '../base/json.ts'
import {
  type Manifest,
  type Publisher,
  type ReleaseEntry,
  type ReleaseIndex,
  type ReleaseName,
  releasePath,
} from '../contract/manifest.ts'
import { ICEBERG_FOLDER, ICEBERG_PATH } from '../contract/published-paths.ts'
import { dataFile } from '../contract/release-files.ts'
import { siteUrl } from '../contract/site-url.ts'
import { keptReleases } from '../release/index.ts'
import type { Entry } from './publication.ts'

/** The data file of a snapshot. */
export const DATA_FILE = dataFile('daily', 'parquet')

const COLUMNS = [
  { id: 1, name: 'date', type: 'date' },
  { id: 2, name: 'model_permaslug', type: 'string' },
  { id: 3, name: 'total_tokens', type: 'long' },
]

// DuckDB writes columns that may be null.
const SCHEMA = { type: 'struct', 'schema-id': 0, fields: COLUMNS.map((column) => ({ ...column, required: false })) }

/** The Parquet files have no field ids: without this, readers find no column and say null. */
const NAME_MAPPING = JSON.stringify(COLUMNS.map(({ id, name }) => ({ 'field-id': id, names: [name] })))

const MANIFEST = recordOf('manifest_entry', {
  status: [0, 'int'],
  snapshot_id: [1, nullable('long')],
  sequence_number: [3, nullable('long')],
  file_sequence_number: [4, nullable('long')],
  data_file: [
    2,
    recordOf('r2', {
      content: [134, 'int'],
      file_path: [100, 'string'],
      file_format: [101, 'string'],
      partition: [102, recordOf('r102', {})],
      record_count: [103, 'long'],
      file_size_in_bytes: [104, 'long'],
    }),
  ],
})

const MANIFEST_LIST = recordOf('manifest_file', {
  manifest_path: [500, 'string'],
  manifest_length: [501, 'long'],
  partition_spec_id: [502, 'int'],
  content: [517, 'int'],
  sequence_number: [515, 'long'],
  min_sequence_number: [516, 'long'],
  added_snapshot_id: [503, 'long'],
  added_files_count: [504, 'int'],
  existing_files_count: [505, 'int'],
  deleted_files_count: [506, 'int'],
  added_rows_count: [512, 'long'],
  existing_rows_count: [513, 'long'],
  deleted_rows_count: [514, 'long'],
})

const ADDED = 1

const Location = z.object({ location: z.string() })

function recordOf(name: string, fields: Readonly<Record<string, readonly [id: number, type: AvroType]>>): AvroRecord {
  const describe = ([key, [id, type]]: [string, readonly [number, AvroType]]) => {
    return { name: key, type, ...(Array.isArray(type) && { default: null }), 'field-id': id }
  }
  return { type: 'record', name, fields: Object.entries(fields).map(describe) }
}

function nullable(type: AvroType): AvroType {
  return ['null', type]
}

/** What the table follows from. */
export interface IcebergFacts {
  index: ReleaseIndex
  /** The manifest of the current release. */
  current: Manifest
  /** The bytes of the daily Parquet file of each release that has its data files. */
  sizes: ReadonlyMap<ReleaseName, number>
  /** Where the public folder is published. */
  site: Site
}

export type Site = Pick<Publisher, 'url'>

/** The files of the table. Expired snapshots have none. */
export function icebergEntries({ index, current, sizes, site }: IcebergFacts): IcebergEntry[] {
  const snapshots = snapshotsOf(index)
  return [
    ...snapshots.flatMap((snapshot) => {
      const manifest = () => manifestFile(snapshot, sizes.get(snapshot.release), site)
      return [
        { path: manifestPath(snapshot), text: manifest },
        { path: listPath(snapshot), text: () => manifestList(snapshot, manifest().length, site) },
      ]
    }),
    { path: ICEBERG_PATH, text: () => toJson(metadata(index, snapshots, current, site)) },
  ]
}

/** The sizes that manifests list. */
export function listedSizes(manifests: ReadonlyMap<ReleaseName, Manifest>): Map<ReleaseName, number> {
  return new Map([...manifests].map(([release, manifest]) => [release, listedSize(manifest)]))
}

export function listedSize({ release, files }: Manifest): number {
  const file = files.find(({ path }) => path === DATA_FILE)
  if (file === undefined) throw new BuildError(`the manifest of release ${release} does not list ${DATA_FILE}`)
  return file.bytes
}

/** Whether the metadata of a table tells this address. */
export function liesAt(text: string | undefined, site: Site): boolean {
  return Location.safeParse(jsonIfAny(text)).data?.location === siteUrl(site, ICEBERG_FOLDER)
}

type IcebergEntry = Required<Pick<Entry, 'path' | 'text'>>

interface Snapshot {
  release: ReleaseName
  /** The digits of the release: 20261120001200. */
  id: number
  /** The position of the release in the index, from 1. */
  sequence: number
  rows: number
  ms: number
}

function snapshotsOf(index: ReleaseIndex): Snapshot[] {
  const kept = new Set(keptReleases(index))
  const all = index.releases.map(({ release, rows, as_of }, position) => ({
    release,
    id: Number(release.replaceAll(/\D/g, '')),
    sequence: position + 1,
    rows,
    ms: Date.parse(as_of),
  }))
  return all.filter(({ release }) => kept.has(release))
}

function manifestPath({ release }: Snapshot): string {
  return `${ICEBERG_FOLDER}/metadata/${release}-m0.avro`
}

function listPath({ release }: Snapshot): string {
  return `${ICEBERG_FOLDER}/metadata/snap-${release}.avro`
}

function manifestFile({ release, id, sequence, rows }: Snapshot, bytes: number | undefined, site: Site): Buffer {
  if (bytes === undefined) throw new Error(`the size of ${DATA_FILE} of ${release} is not known`)
  const data_file = {
    content: 0,
    file_path: siteUrl(site, `${releasePath(release)}/${DATA_FILE}`),
    file_format: 'PARQUET',
    partition: {},
    record_count: rows,
    file_size_in_bytes: bytes,
  }
  const entry = { status: ADDED, snapshot_id: id, sequence_number: sequence, file_sequence_number: sequence, data_file }
  return avroFile(MANIFEST, [entry], {
    schema: JSON.stringify(SCHEMA),
    'schema-id': '0',
    'partition-spec': '[]',
    'partition-spec-id': '0',
    'format-version': '2',
    content: 'data',
  })
}

function manifestList(snapshot: Snapshot, manifest_length: number, site: Site): Buffer {
  const { id, sequence, rows } = snapshot
  const entry = {
    manifest_path: siteUrl(site, manifestPath(snapshot)),
    manifest_length,
    partition_spec_id: 0,
    content: 0,
    sequence_number: sequence,
    min_sequence_number: sequence,
    added_snapshot_id: id,
    added_files_count: 1,
    existing_files_count: 0,
    deleted_files_count: 0,
    added_rows_count: rows,
    existing_rows_count: 0,
    deleted_rows_count: 0,
  }
  return avroFile(MANIFEST_LIST, [entry], {
    'snapshot-id': String(id),
    'sequence-number': String(sequence),
    'format-version': '2',
  })
}

function metadata({ releases }: ReleaseIndex, snapshots: readonly Snapshot[], current: Manifest, site: Site) {
  const last = snapshots.at(-1)
  return {
    'format-version': 2,
    'table-uuid': uuidOf(releases[0]),
    location: siteUrl(site, ICEBERG_FOLDER),
    'last-sequence-number': last?.sequence,
    'last-updated-ms': last?.ms,
    'last-column-id': COLUMNS.length,
    'current-schema-id': 0,
    schemas: [SCHEMA],
    'default-spec-id': 0,
    'partition-specs': [{ 'spec-id': 0, fields: [] }],
    'last-partition-id': 999,
    'default-sort-order-id': 0,
    'sort-orders': [{ 'order-id': 0, fields: [] }],
    properties: {
      'schema.name-mapping.default': NAME_MAPPING,
      license: current.license.path,
      attribution: current.attribution,
    },
    'current-snapshot-id': last?.id,
    snapshots: snapshots.map((snapshot, position) => describe(snapshot, snapshots[position - 1], site)),
    'snapshot-log': snapshots.map(({ id, ms }) => ({ 'snapshot-id': id, 'timestamp-ms': ms })),
    'metadata-log': [],
    refs: {
      main: { 'snapshot-id': last?.id, type: 'branch' },
      ...Object.fromEntries(snapshots.map(({ release, id }) => [release, { 'snapshot-id': id, type: 'tag' }])),
    },
  }
}

/** Each snapshot has other data files than the one before. */
function describe(snapshot: Snapshot, previous: Snapshot | undefined, site: Site) {
  const { id, sequence, ms, release, rows } = snapshot
  return {
    'snapshot-id': id,
    ...(previous && { 'parent-snapshot-id': previous.id }),
    'sequence-number': sequence,
    'timestamp-ms': ms,
    'schema-id': 0,
    'manifest-list': siteUrl(site, listPath(snapshot)),
    summary: {
      operation: previous === undefined ? 'append' : 'overwrite',
      release,
      'total-records': String(rows),
      'total-data-files': '1',
    },
  }
}

/** The same for all tables of a chain: made from the hash of its first release. */
function uuidOf(first: ReleaseEntry | undefined): string {
  const digits = hash('sha256', first?.hash ?? '')
  const [a, b, c, d, e] = [
    digits.slice(0, 8),
    digits.slice(8, 12),
    digits.slice(13, 16),
    digits.slice(17, 20),
    digits.slice(20, 32),
  ]
  return `${a}-${b}-8${c}-8${d}-${e}`
}
