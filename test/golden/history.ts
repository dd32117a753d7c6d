/** A dataset with a history: four releases with late data and a restatement, one of them withdrawn. */
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { hashKey } from '../../server/store/keys.ts'
import { GATEWAY_COLUMNS, Gateway } from '../support/gateway.ts'
import { buildIn, newWorkspace, type Workspace, withdrawIn } from '../support/pipeline.ts'
import { type FileRecord, writeRecords } from '../support/records.ts'

const MODELS = 54
/** Usage of one date: 54 models, so that `other` has four, with tokens that change from day to day. */
function usageOf(day: number, secrets: readonly [string, string]): FileRecord[] {
  const date = `2025-03-${String(day).padStart(2, '0')}`
  return Array.from({ length: MODELS }, (_, index) => ({
    timestamp: `${date}T${String(index % 24).padStart(2, '0')}:30:00Z`,
    model_permaslug: `author-${index % 7}/model-${String(index).padStart(2, '0')}`,
    prompt_tokens: String((MODELS - index) * 1_000 + ((day * 37 + index * 101) % 997)),
    completion_tokens: String((index * 13 + day) % 89),
    request_id: `request-${date}-${index}`,
    api_key_hash: hashKey(secrets[index % 3 === 0 ? 0 : 1]),
    cost_usd: `0.${String(index + 1).padStart(4, '0')}`,
    is_byok: index % 4 === 0 ? 'true' : 'false',
  }))
}

/** The instants of the four releases. */
export const RELEASES = ['2025-03-06T00:15:00Z', '2025-03-07T00:15:00Z', '2025-03-11T00:15:00Z', '2025-03-12T00:15:00Z']

const INSTANTS_OF_WITHDRAWAL = { release: '20250307T001500Z', as_of: '2025-03-12T09:00:00Z' }

type Delivery = [name: string, records: FileRecord[]]

/** Builds the four releases; `step` is called after each, and after the withdrawal of the second one. */
export async function buildHistory(
  step: (name: string, workspace: Workspace) => Promise<void>,
  secrets: readonly [string, string] = ['one key', 'another key'],
): Promise<Workspace> {
  const usage = (day: number) => usageOf(day, secrets)
  const dayOf = (day: number): Delivery => [`day-${day}`, usage(day)]
  const workspace = await newWorkspace()
  const gateway = new Gateway(workspace)
  const key = join(workspace.dataDir, 'archive/inputs.key')
  await mkdir(dirname(key), { recursive: true })
  await writeFile(key, `${'5'.repeat(64)}\n`)
  await gateway.configure({ models: 'models.json' }, { visibility: 'registry' })
  const known = usage(1).map(({ model_permaslug }) => model_permaslug)
  const models = known.map((model_permaslug, index) => {
    return { model_permaslug, aliases: [], public: index !== 53, name: `Model ${index}`, author: `Author ${index % 7}` }
  })
  await writeFile(join(workspace.input, 'models.json'), JSON.stringify(models))
  const deliver = (name: string, records: FileRecord[]) => {
    return writeRecords(gateway.path(`${name}.ndjson`), records, { columns: GATEWAY_COLUMNS })
  }
  const late = (day: number, tokens: number) => [
    { ...usage(day)[3], prompt_tokens: String(tokens), request_id: `late-${day}` },
  ]
  const deliveries: Delivery[][] = [
    [1, 2, 3, 4, 5].map(dayOf),
    [dayOf(6), ['late-5', late(5, 777)]],
    [
      ...[7, 8, 10].map(dayOf),
      ['restated-2', late(2, 123_456)],
      ['dirty', [{ ...usage(8)[0], prompt_tokens: 'many', request_id: 'dirty' }]],
    ],
    [dayOf(11), ['again-10', usage(10).slice(0, 5)]],
  ]
  for (const [position, files] of deliveries.entries()) {
    for (const [name, records] of files) await deliver(name, records)
    const restates = position === 2
    await buildIn(
      workspace,
      RELEASES[position],
      {},
      restates ? { reason: 'late_data', note: 'A region delivered late.' } : {},
    )
    await step(`release-${position + 1}`, workspace)
  }
  const { release, as_of } = INSTANTS_OF_WITHDRAWAL
  await withdrawIn(workspace, release, as_of, {}, { reason: 'It counted a test.' })
  await step('withdrawal', workspace)
  return workspace
}
