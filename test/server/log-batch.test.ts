import { expect, test, vi } from 'vitest'
import { logBatch } from '../../server/base/log-batch.ts'

function batch() {
  const written: string[] = []
  const write = (text: string) => written.push(text)
  return { log: logBatch({ write }), written }
}

test('writes the lines of 20 ms together, once', () => {
  vi.useFakeTimers()
  const { log, written } = batch()
  log.write('one\n')
  log.write('two\n')
  expect(written).toEqual([])
  vi.advanceTimersByTime(20)
  expect(written).toEqual(['one\ntwo\n'])
  log.write('three\n')
  log.flush()
  vi.advanceTimersByTime(20)
  expect(written).toEqual(['one\ntwo\n', 'three\n'])
  vi.useRealTimers()
})

test('writes whole lines, at most 4096 bytes at a time unless a line is longer', () => {
  const { log, written } = batch()
  const lines = Array.from({ length: 500 }, (_, index) => `${index} ${'\u00e9'.repeat(index % 90)}\n`)
  const long = `${'x'.repeat(9000)}\n`
  for (const line of [...lines, long, ...lines]) log.write(line)
  log.flush()
  expect(written.join('')).toBe([...lines, long, ...lines].join(''))
  expect(written.every((text) => text.endsWith('\n'))).toBe(true)
  expect(written.filter((text) => Buffer.byteLength(text) > 4096)).toEqual([long])
  expect(written.length).toBeLessThan(60)
})
