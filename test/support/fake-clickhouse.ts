/** A server that answers the questions of a build as ClickHouse would, from a table of its own. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export interface FakeClickHouse {
  url: string
  /** How many records of model acme/one each UTC day has, of ten tokens each and without ids. */
  days: Record<string, number>
  /** Whose usage the records are, in turn, for who asks for it. */
  contributors: string[]
  /** The types of the columns of the view. */
  columns: Record<string, string>
  /** What each day is answered by, in place of the sums of `days`. */
  answer?: Record<string, unknown>[]
  /** Whether each question is answered by an error. */
  isDown: boolean
  /** Each request that came: the statement and what the URL said. */
  asked: { statement: string; url: URL }[]
  /** Called before a day is answered. */
  onDay: (date: string) => void
  /** What each node has alone, where there are several: as many rows as it says. */
  nodes: { nodes: string; different: string; records: string }
}

export const COLUMN_TYPES = {
  utc_date: 'Date',
  request_id: 'String',
  model: 'LowCardinality(Nullable(String))',
  prompt_tokens: 'Nullable(UInt32)',
  completion_tokens: 'Int64',
}

export async function startFakeClickHouse(days: Record<string, number>): Promise<FakeClickHouse> {
  const fake: FakeClickHouse = {
    url: '',
    days,
    contributors: [''],
    columns: COLUMN_TYPES,
    isDown: false,
    asked: [],
    onDay: () => {},
    nodes: { nodes: '1', different: '1', records: '0' },
  }
  const server = createServer(async (request, response) => {
    const statement = (await Array.fromAsync(request)).join('')
    fake.asked.push({ statement, url: new URL(request.url ?? '', 'http://localhost') })
    if (fake.isDown) {
      response.statusCode = 500
      response.end('Code: 62. DB::Exception: Nothing works. (SYNTAX_ERROR)')
      return
    }
    response.end(
      answer(statement, fake)
        .map((row) => `${JSON.stringify(row)}\n`)
        .join(''),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return Object.assign(fake, { url: `http://127.0.0.1:${port}` })
}

function answer(statement: string, fake: FakeClickHouse): unknown[] {
  if (statement.includes('system.columns')) {
    return Object.entries(fake.columns).map(([name, type]) => ({ name, type }))
  }
  if (statement.includes('part_fingerprint')) return [fake.nodes]
  if (statement.includes('part_first')) {
    return [{ records: '0', first_date: '1970-01-01', last_date: '1970-01-01' }]
  }
  const [first = '', last = ''] = [...statement.matchAll(/toDate\('(\d{4}-\d\d-\d\d)'\)/g)].map(([, date]) => date)
  if (statement.includes('part_date')) {
    const dates = Object.keys(fake.days).filter((date) => date >= first && date <= last)
    return dates.toSorted().map((date) => ({ date, records: `${fake.days[date]}` }))
  }
  if (!statement.includes('part_conflicting')) return []
  fake.onDay(first)
  if (fake.answer !== undefined) return fake.answer
  const each = statement.includes('toString(contributor)') ? fake.contributors : ['']
  const all = Array.from({ length: fake.days[first] ?? 0 }, (_, position) => each[position % each.length] ?? '')
  return [...Map.groupBy(all, (contributor) => contributor)].map(([contributor, { length }]) => {
    const counts = { records: `${length}`, tokens: `${length * 10}`, identified_records: '0', conflicting_records: '0' }
    return { kind: 'delivered', models: ['acme/one'], contributor, ...counts }
  })
}
