import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { pythonWith } from '../clients/python.ts'
import { runTool } from '../clients/tools.ts'
import { type AttackedRelease, leaksOf, publishGateway } from '../support/attacked-gateway.ts'
import type { JudgedRecord } from '../support/disclosure-judge.ts'
import { createWorkspace, REPOSITORY, removeWorkspace } from '../support/pipeline.ts'
import { PLANTED, randomGateway } from '../support/random-gateway.ts'
import { type Figure, type SoakOptions, type SoakPart, shareOf } from './part.ts'

const GATEWAYS = 200
const MOST_STEPS = 6
const TOP_MODELS = 50
const PACKAGES = ['acro==1.0.2', 'scipy==1.17.1']
const ORACLES = join(REPOSITORY, 'test/support/disclosure_oracles.py')

export const part: SoakPart = {
  promise: 'Under a disclosure rule, no reader of all releases computes what the rule does not let through.',
  async run(options) {
    const gateways = shareOf(GATEWAYS, options)
    const dates: PublishedDate[] = []
    let [releases, planted] = [0, 0]
    for (let number = 0; number < gateways; number += 1) {
      options.signal.throwIfAborted()
      const seed = options.seed + number
      const published = await publishedOf(seed, { isRuled: true })
      assert.deepEqual(leaksOf(published), [], `gateway ${seed}`)
      releases += published.length
      dates.push(...published.flatMap(newDatesOf))
      if (number % 4 === 0) planted += await findPlanted(seed)
      if (number % 10 === 9) options.report(`attacked ${number + 1} of ${gateways} gateways`)
    }
    return [
      { what: 'random gateways under a rule, nothing found', value: `${gateways}, ${releases} releases` },
      { what: 'the same without a rule, all planted customers found', value: `${planted}` },
      ...(await askOthers(dates, options)),
    ]
  },
}

/** The rows of a date when they were first published, with the records behind them. */
interface PublishedDate {
  name: string
  rule: AttackedRelease['rule']
  rows: AttackedRelease['rows']
  records: readonly JudgedRecord[]
}

function newDatesOf({ release, rule, rows, newDates, recordsOf }: AttackedRelease): PublishedDate[] {
  return [...newDates].map((date) => {
    const own = rows.filter((row) => row.date === date)
    return { name: `${date} of ${release}`, rule, rows: own, records: recordsOf(date) }
  })
}

async function publishedOf(seed: number, { isRuled }: { isRuled: boolean }): Promise<AttackedRelease[]> {
  const workspace = await createWorkspace()
  try {
    return await publishGateway(workspace, randomGateway(seed, MOST_STEPS), { isRuled })
  } finally {
    await removeWorkspace(workspace)
  }
}

async function findPlanted(seed: number): Promise<number> {
  const found = leaksOf(await publishedOf(seed, { isRuled: false })).map(({ what }) => what)
  for (const model of PLANTED)
    assert(
      found.some((what) => what.startsWith(`${model} on 2`)),
      `gateway ${seed}: ${model}`,
    )
  return 1
}

const Answers = z.object({
  unsafe: z.array(z.array(z.int())),
  bounds: z.array(z.object({ largest: z.number(), highest: z.number() })),
})

/** Lets acro decide which cells are safe, and a solver bound the largest contributors. */
async function askOthers(dates: readonly PublishedDate[], { report }: SoakOptions): Promise<Figure[]> {
  const python = await pythonWith(PACKAGES)
  if ('reason' in python) {
    report(python.reason)
    return [{ what: 'acro and linear programming', value: 'not asked, no Python' }]
  }
  // acro has no contributors that are unknown.
  const cells = dates
    .filter(({ records }) => records.every(({ contributor }) => contributor !== 'unknown'))
    .map(cellsOf)
  const asked = { acro: cells.map(({ asked }) => asked), bounds: dates.map(partsOf) }
  const workspace = await createWorkspace()
  const path = join(workspace.root, 'asked.json')
  await writeFile(path, JSON.stringify(asked))
  const words = [join(python.bin, 'python'), ORACLES, path, `${path}.answers`]
  const said = await runTool('sh', ['-c', 'exec "$1" "$2" <"$3" >"$4"', 'sh', ...words])
  assert.equal(said.code, 0, said.stderr)
  const { unsafe, bounds } = Answers.parse(JSON.parse(await readFile(`${path}.answers`, 'utf8')))
  await removeWorkspace(workspace)
  for (const [position, { check }] of cells.entries()) check(new Set(unsafe[position]))
  const closest = Math.min(...bounds.map(({ largest, highest }) => highest / largest - 1))
  assert(closest >= 0.21 - 1e-6, `the second largest contributor bounds the largest to ${closest}`)
  return [
    { what: 'cells on which acro agrees', value: `${asked.acro.reduce((sum, each) => sum + each.cells.length, 0)}` },
    { what: 'largest contributors bounded by linear programming', value: `${bounds.length}` },
    { what: 'closest bound by the second largest, in percent above', value: (closest * 100).toFixed(1) },
  ]
}

/** The cells of a date for acro, and what its answer must be for the rows that were published. */
function cellsOf({ name, rule, rows, records }: PublishedDate) {
  const { min_contributors, p_percent } = rule
  const named = rows.map(({ model_permaslug }) => model_permaslug).filter((model) => model !== 'other')
  const byModel = Map.groupBy(records, ({ model }) => model)
  const models = [...byModel.keys()].sort(
    (a, b) => tokensOf(byModel.get(b)) - tokensOf(byModel.get(a)) || (a < b ? -1 : 1),
  )
  const rest = models.filter((model) => !named.includes(model))
  const contributions = (those: readonly string[]) =>
    contributionsOf(those.flatMap((model) => byModel.get(model) ?? []))
  // Each model, the rest, and the rest without each of its models: one of these was there before the last one joined.
  const all = [...models.map((model) => [model]), rest, ...rest.map((model) => rest.filter((other) => other !== model))]
  const check = (unsafe: ReadonlySet<number>) => {
    const isSafe = (position: number) => !unsafe.has(position)
    const safe = models.filter((_, position) => isSafe(position))
    assert.deepEqual(named, safe.slice(0, named.length), `${name}: the largest safe models are named`)
    assert(rest.length === 0 || isSafe(models.length), `${name}: the rest is safe`)
    const last = safe[named.length]
    const isFull = named.length === TOP_MODELS || last === undefined
    const before = models.length + 1 + rest.indexOf(last ?? '')
    assert(isFull || !isSafe(before), `${name}: the rest is not larger than it must be`)
  }
  return { asked: { min_contributors, p_percent, cells: all.map(contributions) }, check }
}

/** What each contributor has; nothing for cells that belong to nobody. */
function contributionsOf(records: readonly JudgedRecord[]): number[] {
  const own = records.filter(({ contributor }) => contributor !== 'exempt')
  return [...Map.groupBy(own, ({ contributor }) => contributor).values()].map(tokensOf)
}

function partsOf({ rows, records }: PublishedDate) {
  const named = rows.map(({ model_permaslug }) => model_permaslug)
  const byModel = Map.groupBy(records, ({ model }) => model)
  const parts = [...byModel].flatMap(([model, those]) =>
    [...Map.groupBy(those, ({ contributor }) => contributor)].map(([contributor, own]) => {
      return { model, contributor, tokens: tokensOf(own) }
    }),
  )
  const rest = [...byModel.keys()].filter((model) => !named.includes(model))
  const cells = rows.map(({ model_permaslug, total_tokens }) => {
    return { models: model_permaslug === 'other' ? rest : [model_permaslug], tokens: Number(total_tokens) }
  })
  return { parts, cells }
}

function tokensOf(records: readonly JudgedRecord[] = []): number {
  return records.reduce((sum, { tokens }) => sum + tokens, 0)
}
