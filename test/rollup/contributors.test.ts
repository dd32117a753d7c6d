/** Whose usage it is: from raw files through state and archive to the measures of a rule. */
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { expect, it } from 'vitest'
import { readPipelineConfig } from '../../pipeline/base/config.ts'
import type { BuildEvent } from '../../pipeline/base/effects.ts'
import { CliError } from '../../pipeline/base/errors.ts'
import { build } from '../../pipeline/build.ts'
import type { UnsafeCell } from '../../pipeline/dataset/disclosure.ts'
import { Source } from '../../pipeline/raw/sources.ts'
import { protectedIn } from '../../pipeline/rollup/contributors.ts'
import { reportDisclosure } from '../../pipeline/rollup/disclosure-report.ts'
import {
  AS_OF,
  archiveIn,
  buildAndListen,
  buildIn,
  effectsWith,
  newWorkspace,
  runCli,
  settings,
  type Workspace,
  writeInput,
} from '../support/pipeline.ts'
import { query, sqlText } from '../support/records.ts'
import { useSmallSample } from '../support/small-sample.ts'

const HEAD = 'timestamp,model_permaslug,prompt_tokens,completion_tokens,request_id,api_key_hash,customer'
const [KEY_A, KEY_B] = ['a'.repeat(64), 'b'.repeat(64)]

/** Two customers on one model: 700 and 300 tokens. The first request of anna was delivered twice. */
const RECORDS = [
  `2025-03-01T10:00:00Z,acme/one,500,0,1,${KEY_A},anna`,
  `2025-03-01T10:00:00Z,acme/one,500,0,1,${KEY_A},anna`,
  `2025-03-01T11:00:00Z,acme/one,200,0,2,${KEY_B},anna`,
  `2025-03-01T12:00:00Z,acme/one,300,0,3,${KEY_B},bert`,
]

const csv = (records: readonly string[]) => `${[HEAD, ...records].join('\n')}\n`

const configOf = (workspace: Workspace) => ({ ...readPipelineConfig(settings(workspace, AS_OF)), threads: 1 })

async function workspaceOf(source: object, records = RECORDS): Promise<Workspace> {
  const workspace = await newWorkspace()
  await writeInput(workspace, 'usage.csv', csv(records))
  await writeSource(workspace, source)
  return workspace
}

function writeSource(workspace: Workspace, source: object, top: object = {}): Promise<void> {
  const common = { name: 'gateway', schema: 'canonical', files: ['usage.csv'], visibility: 'public' }
  return writeInput(workspace, 'sources.json', { sources: [{ ...common, ...source }], ...top })
}

async function reportOf(workspace: Workspace, notices: string[] = []) {
  const report = (event: BuildEvent) => event.kind === 'notice' && notices.push(event.message)
  return reportDisclosure(configOf(workspace), effectsWith({ report }), { min_contributors: 9, p_percent: 10 })
}

async function cellsOf(
  workspace: Workspace,
  notices: string[] = [],
): Promise<Pick<UnsafeCell, 'contributors' | 'largest_share'>[]> {
  const { worst_cells } = await reportOf(workspace, notices)
  return worst_cells.map(({ contributors, largest_share }) => ({ contributors, largest_share }))
}

const noticesOf = async (workspace: Workspace, asOf = AS_OF) => (await buildAndListen(workspace, asOf)).notices

/** Runs SQL on the state. */
async function inState(workspace: Workspace, sql: string): Promise<Record<string, unknown>[]> {
  const instance = await DuckDBInstance.create(join(workspace.dataDir, 'state/build.duckdb'))
  const connection = await instance.connect()
  try {
    return (await connection.runAndReadAll(sql)).getRowObjectsJS()
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}

const USE = {
  timestamp: '2025-03-01T10:00:00Z',
  model_permaslug: 'acme/one',
  prompt_tokens: 100,
  completion_tokens: 0,
}

useSmallSample()

const MAPPED = { columns: { contributor: 'customer' } }
const ANNA_AND_BERT = [{ contributors: 2, largest_share: 0.7 }]

it('counts the customers of a model, or its keys, or nobody, as the source says', async () => {
  const workspace = await workspaceOf(MAPPED)
  expect(await cellsOf(workspace)).toEqual(ANNA_AND_BERT)
  await writeSource(workspace, { contributors: 'keys' })
  expect(await cellsOf(workspace)).toEqual([{ contributors: 2, largest_share: 0.5 }])
  await writeSource(workspace, { contributors: 'exempt', note: 'Our own account.' })
  expect(await cellsOf(workspace)).toEqual([])
  // Tokens without a customer count for the largest one.
  await writeInput(workspace, 'usage.csv', csv([...RECORDS, '2025-03-01T13:00:00Z,acme/one,1000,0,4,,']))
  await writeSource(workspace, MAPPED)
  expect(await cellsOf(workspace)).toEqual([{ contributors: 2, largest_share: 0.85 }])
  // One customer in two sources is one, also before the first build.
  const common = { schema: 'canonical', files: ['usage.csv'], visibility: 'public', ...MAPPED }
  await writeInput(workspace, 'sources.json', { sources: ['one', 'two'].map((name) => ({ name, ...common })) })
  expect(await cellsOf(workspace)).toEqual([{ contributors: 2, largest_share: 0.85 }])
})

it('stores no name of a customer, and knows those of archived dates whose raw files are deleted', async () => {
  const workspace = await workspaceOf(MAPPED)
  await buildIn(workspace)
  const state = await readFile(join(workspace.dataDir, 'state/build.duckdb'), 'latin1')
  expect(state).toContain('acme/one')
  expect(state).not.toContain('anna')
  await archiveIn(workspace, '2025-03-02')
  await rm(join(workspace.input, 'usage.csv'))
  expect(await cellsOf(workspace)).toEqual([{ contributors: 2, largest_share: 0.7 }])
})

it('knows the customers of a missing file that is kept, however they are spelled', async () => {
  const workspace = await workspaceOf(
    MAPPED,
    RECORDS.map((record) => record.replace('anna', ' ANNA')),
  )
  await writeSource(workspace, MAPPED, { on_missing: 'keep' })
  await buildIn(workspace)
  await rm(join(workspace.input, 'usage.csv'))
  const later = ['2025-03-01T10:00:00Z,acme/one,400,0,9,,carl', '2025-03-01T10:30:00Z,acme/one,600,0,1,,anna']
  await writeInput(workspace, 'later.csv', csv(later))
  await writeSource(workspace, { ...MAPPED, files: ['usage.csv', 'later.csv'] }, { on_missing: 'keep' })
  await buildIn(workspace, '2025-03-11T12:00:00Z')
  expect(await cellsOf(workspace)).toEqual([{ contributors: 3, largest_share: 800 / 1500 }])
})

it('counts a number once, however CSV and JSON write it, also of a kept file and an archived date', async () => {
  const workspace = await newWorkspace()
  const line = (n: number, text: string) => JSON.stringify({ ...USE, request_id: `json-${n}`, customer: text })
  const row = (n: number, text: string) => `2025-03-01T10:00:00Z,acme/one,100,0,csv-${n},,${text}`
  const source = { ...MAPPED, files: ['one.csv', 'two.ndjson'] }
  await writeInput(workspace, 'one.csv', csv([...['7', '7.0', '007', '1e7'].map((text, n) => row(n, text))]))
  await writeSource(workspace, { ...source, files: ['one.csv'] }, { on_missing: 'keep' })
  await buildIn(workspace)
  await rm(join(workspace.input, 'one.csv'))
  await writeInput(workspace, 'two.ndjson', ['10000000', '+7', '７'].map((text, n) => `${line(n, text)}\n`).join(''))
  await writeSource(workspace, source, { on_missing: 'keep' })
  await buildIn(workspace, '2025-03-11T12:00:00Z')
  const two = [{ contributors: 2, largest_share: 5 / 7 }]
  expect(await cellsOf(workspace)).toEqual(two)
  await archiveIn(workspace, '2025-03-02')
  await rm(join(workspace.input, 'two.ndjson'))
  expect(await cellsOf(workspace)).toEqual(two)
})

it('reads whole numbers of JSON and of Parquet as those of text', async () => {
  const workspace = await newWorkspace()
  const numbers = ['7', '7.0', '70e-1'].map((number, n) =>
    JSON.stringify({ ...USE, request_id: `${n}`, customer: 0 }).replace('"customer":0', `"customer":${number}`),
  )
  await writeInput(workspace, 'a.ndjson', `${numbers.join('\n')}\n`)
  const files = ['a.ndjson']
  for (const type of ['BIGINT', 'DOUBLE', 'FLOAT', 'DECIMAL(9, 2)', 'VARCHAR']) {
    files.push(`${type}.parquet`)
    const path = join(workspace.input, `${type}.parquet`)
    await query(`COPY (SELECT '2025-03-01T10:00:00Z' AS timestamp, 'acme/one' AS model_permaslug, 100 AS prompt_tokens,
      0 AS completion_tokens, '${type}' AS request_id, 7::${type} AS customer) TO ${sqlText(path)} (FORMAT parquet)`)
  }
  await writeSource(workspace, { ...MAPPED, files })
  expect(await cellsOf(workspace)).toEqual([{ contributors: 1, largest_share: 1 }])
})

it('takes words for nobody for unknown, says which, and how many models that keeps unnamed', async () => {
  const customers = ['a', 'b', 'c', 'd', 'e', 'None', 'NaN', 'Guest']
  const records = customers.map((name, n) => `2025-03-01T10:00:00Z,acme/one,100,0,${n},,${name}`)
  const workspace = await workspaceOf({ ...MAPPED, no_customer: ['guest'] }, records)
  const notices: string[] = []
  expect(await cellsOf(workspace, notices)).toEqual([{ contributors: 5, largest_share: 0.5 }])
  expect(notices).toContainEqual(expect.stringMatching(/"guest" 100, "nan" 100, "none" 100\. .* keeps 0 numbers from/))
  await writeSource(workspace, { ...MAPPED, no_customer: ['a'] }, { disclosure: { min_contributors: 7 } })
  const { measures } = await reportDisclosure(
    configOf(workspace),
    effectsWith({ report: (event) => event.kind === 'notice' && notices.push(event.message) }),
  )
  expect(measures).toMatchObject({ cells: 1, unsafe_cells: 1 })
  expect(notices.at(-1)).toMatch(/"a" 100, "nan" 100, "none" 100\. .* keeps 1 number from being named/)
})

it('says when customers of a source differ only in their spelling, and keeps no names', async () => {
  const names = ['Anna', 'anna', '7', '7.0', 'None', 'none', 'bert']
  const records = names.map((name, n) => `2025-03-01T10:00:00Z,acme/one,100,0,${n},,${name}`)
  const workspace = await workspaceOf(MAPPED, records)
  const warned = await noticesOf(workspace)
  expect(warned).toContainEqual(
    'source "gateway": 2 customers are written in several ways, such as "7" and "7.0", and each counts once (docs/disclosure.md)',
  )
  expect((await noticesOf(workspace, '2025-03-11T12:00:00Z')).join()).not.toContain('several ways')
})

it('counts the accounts of an owner as one, and refuses a list that contradicts itself', async () => {
  const workspace = await workspaceOf(MAPPED, [...RECORDS, '2025-03-01T13:00:00Z,acme/one,100,0,7,,Ben'])
  await writeInput(workspace, 'owners.csv', 'owner,contributor\nBERT,ben\n"Group 1",ANNA\n')
  await writeSource(workspace, MAPPED, { owners: 'owners.csv' })
  expect(await cellsOf(workspace)).toEqual([{ contributors: 2, largest_share: 700 / 1100 }])
  await writeInput(workspace, 'owners.csv', 'contributor,owner\nanna,bert\nANNA,carl\nbert,dora\nnone,x\n')
  await expect(cellsOf(workspace)).rejects.toThrow(
    /owners\.csv:2: "bert" has an owner itself.*\n.*:3: "ANNA" has an owner in line 2 already\n.*:5: "none" names nobody/,
  )
})

it('applies a bound that is stricter than the rule, the same in each build and another one in each installation', async () => {
  const bounds = new Set<number>()
  for (const key of ['0', '8', 'f'].map((digit) => digit.repeat(64))) {
    // The third customer has from 18 to 44 % of the first.
    const records = Array.from({ length: 27 }, (_, n) =>
      [1000, 500, 180 + 10 * n].map((tokens, who) => `2025-03-01T10:00:00Z,acme/${n},${tokens},0,${n}-${who},,c${who}`),
    )
    const workspace = await workspaceOf(MAPPED, records.flat())
    await mkdir(join(workspace.dataDir, 'disclosure'))
    await writeFile(join(workspace.dataDir, 'disclosure/secret.key'), key)
    const { measures } = await reportDisclosure(configOf(workspace), effectsWith(), {
      min_contributors: 3,
      p_percent: 10,
    })
    const again = await reportDisclosure(configOf(workspace), effectsWith(), { min_contributors: 3, p_percent: 10 })
    expect(again.measures).toEqual(measures)
    bounds.add(measures.unsafe_cells)
    // 18 to 20 % are too little for any bound, and from 42 % on all is safe.
    expect(measures.unsafe_cells).toBeGreaterThanOrEqual(3)
    expect(measures.unsafe_cells).toBeLessThanOrEqual(24)
  }
  expect(bounds.size).toBeGreaterThan(1)
})

it('attacks what would be published, and the releases that are', async () => {
  const models = ['one', 'two'].flatMap((model) =>
    Array.from({ length: 9 }, (_, n) => `2025-03-01T10:00:00Z,acme/${model},100,0,${model}-${n},,customer-${n}`),
  )
  const workspace = await workspaceOf(MAPPED, models)
  await buildIn(workspace)
  const late = '2025-03-01T10:00:00Z,acme/one,7,0,late,,anna'
  await writeInput(workspace, 'usage.csv', csv([...models, late]))
  await buildIn(workspace, '2025-03-10T13:00:00Z')
  // Two rows, and the sums of the date, the month, the author and both models. In the tables of weeks and months: the same
  // two rows, their sum, and each less its days; and two rows of the week less the month.
  const numbers = { numbers: 7 + 5 + 5 + 2, unsafe_numbers: 0 }
  // What anna is late with changes all numbers that have acme/one: its row and sum, and those of date, month and author.
  // And its row and the sum of the week and of the month.
  const release = '20250310T130000Z'
  const published = { release, numbers: 6, unsafe_numbers: 0, unsafe_dates: [] }
  expect((await reportOf(workspace)).attack).toEqual({ ...numbers, published, changed_numbers: 5 + 4 })
})

it('measures what is public by the records of today', async () => {
  const safe = Array.from({ length: 9 }, (_, n) => `2025-03-01T10:00:00Z,acme/one,100,0,${n},,customer-${n}`)
  const solo = ['2025-03-01T10:00:00Z,acme/solo,7,0,solo,,anna', '2025-03-02T10:00:00Z,acme/one,7,0,next,,anna']
  const workspace = await workspaceOf(MAPPED, [...safe, ...solo])
  await buildIn(workspace, '2025-03-10T13:00:00Z')
  const release = '20250310T130000Z'
  const unsafe_dates = ['2025-03-01', '2025-03-02']
  expect((await reportOf(workspace)).attack).toMatchObject({
    unsafe_numbers: 0,
    // Three rows of days, and both models in the week and in the month.
    published: { release, numbers: 7, unsafe_numbers: 4, unsafe_dates },
  })
  const { stdout } = await runCli(['disclosure'], settings(workspace, '2025-03-10T14:00:00Z'))
  expect(stdout).toMatch(/^attacked +0 of \d+ sums of the rows that this rule would publish are not safe$/m)
  expect(stdout).toMatch(/^published 4 of 7 numbers of release 20250310T130000Z are not safe under this rule/m)
  expect(stdout).toMatch(/^ +they stay public on 2 dates, 2025-03-01 to 2025-03-02, until/m)
})

it('goes on to the next path where a value stands for nobody, also in a column that the source names', async () => {
  const common = { startTime: '2025-03-01T10:00:00Z', model: 'acme/one', prompt_tokens: 100, completion_tokens: 0 }
  const records = [
    { team_id: 'litellm-dashboard', metadata: { user_api_key_team_id: 'team' } },
    { team_id: 'team' },
    { team_id: 'team', organization_id: 'organization' },
  ].map((fields, n) =>
    JSON.stringify({ request_id: `${n}`, ...common, metadata: {}, organization_id: null, ...fields }),
  )
  const workspace = await newWorkspace()
  await writeInput(workspace, 'spend.ndjson', `${records.join('\n')}\n`)
  const litellm = { schema: 'litellm-spend-logs', files: ['spend.ndjson'] }
  await writeSource(workspace, litellm)
  expect(await cellsOf(workspace)).toEqual([{ contributors: 2, largest_share: 2 / 3 }])
  await writeSource(workspace, { ...litellm, columns: { contributor: 'team_id' } })
  expect(await cellsOf(workspace)).toEqual([{ contributors: 1, largest_share: 1 }])
})

it('measures the row of the rest, and shares of what is not exempt', async () => {
  const models = Array.from({ length: 60 }, (_, n) => `2025-03-01T10:00:00Z,acme/${n},${100 - n},0,${n},,anna`)
  const workspace = await workspaceOf(MAPPED, models)
  const { measures, worst_cells } = await reportOf(workspace)
  expect(measures).toMatchObject({
    cells: 51,
    unsafe_cells: 51,
    joined_cells: 50,
    dates_left_out: 1,
    named_tokens: '0',
  })
  expect(worst_cells[0]).toMatchObject({ model_permaslug: 'other', tokens: '455', protected_tokens: '455' })
  const exempt = { contributors: 'exempt', note: 'Our own account.' }
  const common = { schema: 'canonical', files: ['usage.csv'], visibility: 'public' }
  const sources = [
    { name: 'own', ...common, ...exempt },
    { name: 'gateway', ...common, ...MAPPED },
  ]
  await writeInput(workspace, 'sources.json', { sources })
  expect((await reportOf(workspace)).worst_cells[0]).toMatchObject({
    tokens: '910',
    protected_tokens: '455',
    largest_share: 1,
  })
})

it('stores nobody where none is protected, and reads again when that changes', async () => {
  const workspace = await workspaceOf(MAPPED)
  let minute = 10
  const idsWith = async (source: object, top: object = {}) => {
    await writeSource(workspace, source, top)
    await buildIn(workspace, `2025-03-10T12:${minute++}:00Z`)
    return inState(workspace, 'SELECT count(contributor)::INTEGER AS ids FROM state_sums')
  }
  for (const [source, top] of [
    [{ contributors: 'exempt', note: 'Our own account.' }, {}],
    [{ contributors: 'keys' }, {}],
    [MAPPED, { disclosure: 'none' }],
  ] as const) {
    expect(await idsWith(MAPPED)).toEqual([{ ids: 3 }])
    expect(await idsWith(source, top)).toEqual([{ ids: 0 }])
  }
})

it('makes a secret only where there are customers, and for its owner alone', async () => {
  const workspace = await workspaceOf({})
  await buildIn(workspace)
  expect(await readdir(workspace.dataDir)).not.toContain('disclosure')
  await writeSource(workspace, MAPPED)
  await buildIn(workspace)
  const modeOf = async (name: string) => (await stat(join(workspace.dataDir, name))).mode & 0o777
  expect(await Promise.all(['disclosure', 'disclosure/secret.key'].map(modeOf))).toEqual([0o700, 0o600])
})

/** A build of a file and of one that is kept after it is gone, and then a lost secret. */
async function withLostSecret(): Promise<Workspace> {
  const workspace = await workspaceOf(MAPPED)
  await writeSource(workspace, MAPPED, { on_missing: 'keep' })
  await buildIn(workspace)
  await rm(join(workspace.input, 'usage.csv'))
  // The second request of anna once more, and one of carl.
  const later = [`2025-03-01T11:00:00Z,acme/one,200,0,2,${KEY_B},anna`, '2025-03-01T10:00:00Z,acme/one,400,0,9,,carl']
  await writeInput(workspace, 'later.csv', csv(later))
  await writeSource(workspace, { ...MAPPED, files: ['usage.csv', 'later.csv'] }, { on_missing: 'keep' })
  await buildIn(workspace, '2025-03-11T12:00:00Z')
  await rename(join(workspace.dataDir, 'disclosure'), join(workspace.root, 'lost'))
  return workspace
}

it('reads the files that are there again under a new secret, and says what is unknown until the old one is back', async () => {
  const workspace = await withLostSecret()
  const [first, second] = [
    await noticesOf(workspace, '2025-03-12T12:00:00Z'),
    await noticesOf(workspace, '2025-03-13T12:00:00Z'),
  ]
  expect(first).toContainEqual(
    expect.stringMatching(/^source "gateway": the customers of 2,100 tokens .*1 raw file is read again$/),
  )
  expect(second).toContainEqual(expect.stringMatching(/customers of 1,500 tokens .*restore that folder from a backup$/))
  expect(await cellsOf(workspace)).toEqual([{ contributors: 2, largest_share: 1200 / 1400 }])
  await rm(join(workspace.dataDir, 'disclosure'), { recursive: true })
  await rename(join(workspace.root, 'lost'), join(workspace.dataDir, 'disclosure'))
  expect(await cellsOf(workspace)).toEqual([{ contributors: 3, largest_share: 0.5 }])
})

it('warns of a column that names nearly each record anew', async () => {
  const records = Array.from({ length: 150 }, (_, n) => `2025-03-01T10:00:00Z,acme/one,1,0,${n},,session-${n}`)
  const warning = expect.stringContaining('150 records name 150 customers. If these are sessions')
  expect(await noticesOf(await workspaceOf(MAPPED, records))).toContainEqual(warning)
  expect(await noticesOf(await workspaceOf({ contributors: 'keys' }, records))).not.toContainEqual(warning)
})

it('measures logs whose source has the name of one of the sample, after the sample', async () => {
  const workspace = await workspaceOf(MAPPED)
  const { SOURCES: _, ...sample } = settings(workspace, AS_OF)
  await build({ ...readPipelineConfig(sample), threads: 1 }, effectsWith())
  expect(await cellsOf(workspace)).toEqual(ANNA_AND_BERT)
})

it('says whom it measures', async () => {
  const said = async (source: object, ...words: string[]) => {
    const workspace = await workspaceOf(source)
    await writeSource(workspace, source, { disclosure: { min_contributors: 7 } })
    return (await runCli(['disclosure', ...words], settings(workspace, AS_OF))).stdout
  }
  expect(await said({ contributors: 'keys' })).toMatch(
    /at least 7 API keys, .* to within 10 %[\s\S]* 1 of 1 published number\n[\s\S]*API keys {2}largest/,
  )
  expect(await said({ contributors: 'exempt', note: 'Our own.' })).toContain('all usage is exempt')
  expect(await said({}, '--p-percent', '15')).toMatch(/no record names the customer[\s\S]*to within 15 %/)
  const saysNothing = await workspaceOf({ schema: 'openrouter-activity-api', files: ['usage.json'] })
  await expect(cellsOf(saysNothing)).rejects.toThrow(CliError)
})

it('protects end users where a schema has what callers send, and customers where the source names their column', () => {
  const protects = (columns: object) => {
    const source = Source.parse({ name: 'traces', schema: 'langfuse-api', files: ['a'], columns, visibility: 'public' })
    return protectedIn({ usageSources: [source] })
  }
  expect(protects({})).toEqual(['end_users'])
  expect(protects({ contributor: 'userId' })).toEqual(['customers'])
})
