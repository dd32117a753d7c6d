/** Short forms of `make soak`: real processes, `kill -9`, mutated input, and servers behind both balancers of deploy/. */
import { expect, it } from 'vitest'
import { tryFaults } from '../soak/deployment.ts'
import { AT_ONCE } from '../soak/deployment-faults.ts'
import { deploy } from '../soak/deployment-servers.ts'
import { part as endpoints } from '../soak/endpoints.ts'
import { part as input } from '../soak/input.ts'
import type { SoakOptions } from '../soak/part.ts'
import { killBuilds } from '../soak/publish.ts'
import { part as store } from '../soak/store.ts'
import { BALANCER_KINDS } from './balancing.ts'
import { skipLoudly } from './hosting.ts'
import { noPostgres } from './postgres.ts'

const SEED = 20_250_304

function options(share: number): SoakOptions {
  return { seed: SEED, share, signal: new AbortController().signal, report: () => {} }
}

it('the next build repairs whatever 6 builds leave that are killed at random moments', async () => {
  expect(await killBuilds(6, options(1))).toContainEqual(expect.objectContaining({ value: '6' }))
})

it('3 servers that are killed while clients write lose no version and store none twice', async () => {
  expect(await store.run(options(0.03))).toContainEqual(expect.objectContaining({ value: '3' }))
})

it('100 mutants of raw files and an inflating file give their numbers or an error that names them', async () => {
  const figures = await input.run(options(0.01))
  expect(figures).toContainEqual({ what: 'raw files mutated', value: '100' })
  expect(figures.filter(({ value }) => value.startsWith('an error'))).not.toEqual([])
})

it('1500 requests made from /openapi.json are answered as documented, or refused in the envelope', async () => {
  const figures = await endpoints.run(options(0.075))
  expect(figures).toContainEqual({ what: 'requests made from `/openapi.json`', value: '1500' })
})

it('files never fail behind the balancers of deploy/, and the API fails only in the envelope', async ({ skip }) => {
  const missing = BALANCER_KINDS.filter(({ isHere }) => !isHere).map(({ name, file }) => `no ${name}: ${file}`)
  const reasons = noPostgres === undefined ? missing : [noPostgres, ...missing]
  if (reasons.length > 0) skipLoudly(skip, `${reasons.join(', ')}, so two servers were not run with it`)
  const deployment = await deploy(AT_ONCE)
  try {
    const figures = await tryFaults(deployment, BALANCER_KINDS, options(0.1))
    expect(figures.length).toBeGreaterThan(0)
  } finally {
    await deployment.remove()
  }
})
