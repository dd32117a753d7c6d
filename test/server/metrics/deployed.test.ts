/** deploy/alerts.yml, deploy/grafana-dashboard.json and the list of docs/operations.md against the metrics that there are. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import type { MetricFamily } from '../../../server/metrics/registry.ts'
import { serverMetrics } from '../../../server/metrics/server-metrics.ts'

const read = (path: string) => readFileSync(join(import.meta.dirname, '../../..', path), 'utf8')

let families: MetricFamily[]
beforeAll(async () => {
  const metrics = serverMetrics()
  metrics.watch({
    connections: () => 0,
    requestsInFlight: () => 0,
    olderReleasesWaiting: () => 0,
    release: async () => undefined,
    isStoreUp: async () => true,
  })
  families = await metrics.collect()
})

/** The names of metrics in an expression of Prometheus, without the endings of histograms. */
function namesIn(expressions: string): Set<string> {
  const found = expressions.match(/\b(tokenboard|process)_\w+/g) ?? []
  return new Set(found.map((name) => name.replace(/_(bucket|sum|count)$/, '')))
}

const known = () => new Set(families.map(({ name }) => name))

interface Panel {
  title: string
  type: string
  description?: string
  gridPos: { x: number; y: number; w: number; h: number }
  targets?: { expr: string }[]
}

describe('the dashboard', () => {
  const { panels, templating } = JSON.parse(read('deploy/grafana-dashboard.json')) as {
    panels: Panel[]
    templating: { list: { name: string }[] }
  }
  const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))

  test('shows every metric that there is, and no other', () => {
    const shown = namesIn(expressions.join('\n'))
    const expected = known()
    // When a process began is read where Prometheus shows its targets.
    expected.delete('process_start_time_seconds')
    expect(shown).toEqual(expected)
  })

  test('uses only variables that it has', () => {
    const used = new Set(
      JSON.stringify(panels)
        .match(/\$\{?\w+/g)
        ?.map((name) => name.replace(/^\$\{?/, '')),
    )
    used.delete('__rate_interval')
    expect([...used].toSorted()).toEqual(templating.list.map(({ name }) => name).toSorted())
  })

  test('explains each panel, and none covers another', () => {
    const covered = new Set<string>()
    for (const { title, type, description, gridPos, targets } of panels) {
      if (type !== 'row') expect([title, description !== '', targets?.length !== 0]).toEqual([title, true, true])
      expect(gridPos.x + gridPos.w, title).toBeLessThanOrEqual(24)
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          expect(covered.has(`${x} ${y}`), title).toBe(false)
          covered.add(`${x} ${y}`)
        }
      }
    }
  })
})

test('the alerts name only metrics that there are', () => {
  const expected = known()
  for (const name of namesIn(read('deploy/alerts.yml'))) expect(expected, name).toContain(name)
})

test('docs/operations.md lists the metrics of the server with what they say', () => {
  const page = read('docs/operations.md')
  const listed = [...page.matchAll(/^- `((?:tokenboard|process)_\w+)(?:\{.*\})?` \((\w+)\): (.*)$/gm)]
  const rows = listed.map(([, name, type, help]) => ({ name, type, help }))
  expect(rows).toEqual(families.map(({ name, type, help }) => ({ name, type, help })))
})
