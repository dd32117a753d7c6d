/** Real processes and `kill -9`, a few times: `make soak` does the same for long. */
import { expect, test } from 'vitest'
import type { SoakOptions } from '../soak/part.ts'
import { killBuilds } from '../soak/publish.ts'
import { part as store } from '../soak/store.ts'

const { PROPERTY_SEED = '9' } = process.env

function options(share: number): SoakOptions {
  return { seed: Number(PROPERTY_SEED), share, signal: new AbortController().signal, report: () => {} }
}

test('the next build repairs whatever 6 builds leave that are killed at random moments', async () => {
  expect(await killBuilds(6, options(1))).toContainEqual(expect.objectContaining({ value: '6' }))
})

test('3 servers that are killed while clients write lose no version and store none twice', async () => {
  expect(await store.run(options(0.03))).toContainEqual(expect.objectContaining({ value: '3' }))
})
