import { expect, test } from 'vitest'
import { Registry, renderMetrics } from '../../../server/metrics/registry.ts'

async function textOf(registry: Registry): Promise<string> {
  return renderMetrics(await registry.collect())
}

test('a counter counts for each set of label values, and begins with 0 if it has no labels', async () => {
  const registry = new Registry()
  registry.counter('plain_total', 'No labels.')
  const count = registry.counter('made_total', 'Two labels.', ['what', 'how'])
  count(1, 'a', 'b')
  count(2, 'a', 'b')
  count(0, 'a', 'c')
  expect(await textOf(registry)).toBe(
    [
      '# HELP plain_total No labels.',
      '# TYPE plain_total counter',
      'plain_total 0',
      '# HELP made_total Two labels.',
      '# TYPE made_total counter',
      'made_total{what="a",how="b"} 3',
      'made_total{what="a",how="c"} 0',
      '',
    ].join('\n'),
  )
})

test('a histogram counts what is at or below each bound', async () => {
  const registry = new Registry()
  const observe = registry.histogram('took_seconds', 'Time.', [0.1, 1], ['route'])
  for (const seconds of [0.05, 0.1, 0.5, 3]) observe(seconds, '/x')
  expect(await textOf(registry)).toBe(
    [
      '# HELP took_seconds Time.',
      '# TYPE took_seconds histogram',
      'took_seconds_bucket{route="/x",le="0.1"} 2',
      'took_seconds_bucket{route="/x",le="1"} 3',
      'took_seconds_bucket{route="/x",le="+Inf"} 4',
      'took_seconds_sum{route="/x"} 3.65',
      'took_seconds_count{route="/x"} 4',
      '',
    ].join('\n'),
  )
})

test('a gauge without a value is left out', async () => {
  const registry = new Registry()
  registry.gauge('here', 'One.', async () => 1.5)
  registry.gauge('absent', 'None.', () => undefined)
  expect(await textOf(registry)).toBe('# HELP here One.\n# TYPE here gauge\nhere 1.5\n')
})

test('what cannot be read is left out, and the rest is there', async () => {
  const registry = new Registry()
  const fail = () => {
    throw new Error('no more files can be opened')
  }
  registry.gauge('memory', 'Reading it fails.', fail)
  registry.add(fail)
  registry.gauge('up', 'Reading it works.', () => 1)
  expect((await registry.collect()).map(({ name }) => name)).toEqual(['up'])
})

test('help, label values and numbers are escaped as the format wants it', async () => {
  const registry = new Registry()
  registry.counter('odd_total', 'A \\ and\na line.', ['path'])(Number.POSITIVE_INFINITY, 'a"b\\c\nd')
  for (const [name, value] of Object.entries({ nothing: Number.NaN, least: Number.NEGATIVE_INFINITY, large: 1e21 })) {
    registry.gauge(name, 'Odd.', () => value)
  }
  const [help, , sample, ...gauges] = (await textOf(registry)).split('\n')
  expect([help, sample]).toEqual(['# HELP odd_total A \\\\ and\\na line.', 'odd_total{path="a\\"b\\\\c\\nd"} +Inf'])
  expect(gauges.filter((line) => !line.startsWith('#'))).toEqual(['nothing NaN', 'least -Inf', 'large 1e+21', ''])
})
