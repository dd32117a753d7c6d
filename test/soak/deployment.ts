import assert from 'node:assert/strict'
import { seededRandom } from '../../pipeline/raw/sample/random.ts'
import { BALANCER_KINDS, type Balancer, type BalancerKind } from '../system/balancing.ts'
import { AT_ONCE, FAULTS, type Fault, LAST, type Trial } from './deployment-faults.ts'
import { ask, assertRefused, Load } from './deployment-load.ts'
import { balance, type Deployment, deploy, settle } from './deployment-servers.ts'
import { type Dice, diceFrom } from './dice.ts'
import type { Figure, SoakOptions, SoakPart } from './part.ts'
import { assertThere, presetApi } from './store.ts'

export const part: SoakPart = {
  promise:
    'behind nginx and behind Caddy, files never fail, and the API fails only with the envelope and `Retry-After`',
  async run(options) {
    const deployment = await deploy(AT_ONCE * BALANCER_KINDS.length)
    try {
      const figures: Figure[] = []
      for (const kind of BALANCER_KINDS) figures.push(...(await tryFaults(deployment, kind, options)))
      return figures
    } finally {
      await deployment.remove()
    }
  },
}

/** Makes every fault behind one balancer, in an order that follows from the seed. A share below 1 ends each early. */
export async function tryFaults(
  deployment: Deployment,
  kind: BalancerKind,
  { seed, share, signal, report }: SoakOptions,
): Promise<Figure[]> {
  const balancer = await balance(deployment, kind)
  const dice = diceFrom(seededRandom('deployment', seed))
  const load = new Load(balancer.url, deployment.key, `${seed} ${kind.name}`)
  const figures: Figure[] = []
  let what = ''
  try {
    for (const fault of [...shuffled(FAULTS, dice), LAST]) {
      signal.throwIfAborted()
      what = fault.name
      await settle(deployment, balancer)
      const value = await tryFault(fault, { deployment, balancer, load, dice, isShort: share < 1 })
      figures.push({ what: `${kind.name}: ${what}`, value })
      report(`${kind.name}: ${what}: ${value}`)
    }
    what = 'what was written'
    await assertWrittenOnce(balancer, deployment, load)
    what = 'both servers are lost'
    await loseBoth(deployment, balancer)
    return [...figures, { what: `${kind.name}: versions written, each of them once`, value: `${load.written.length}` }]
  } catch (error) {
    throw new Error(`seed ${seed}, ${kind.file}, ${what}: ${error}`, { cause: error })
  } finally {
    await balancer.stop()
  }
}

async function tryFault({ refusals, make }: Fault, trial: Trial): Promise<string> {
  trial.load.refusals = refusals
  await make(trial)
  return trial.load.take()
}

function shuffled<Item>(items: readonly Item[], { below }: Dice): Item[] {
  const left = [...items]
  return items.flatMap(() => left.splice(below(left.length), 1))
}

/** The balancer answers by itself, like the API. */
async function loseBoth({ servers }: Deployment, balancer: Balancer): Promise<void> {
  for (const { kill } of servers) await kill()
  for (const path of ['/healthz', '/api/v1/key']) {
    const answer = await ask(balancer.url + path)
    assert.equal(answer.status, 503)
    assertRefused(answer)
    assert.equal(answer.headers['access-control-allow-origin'], '*')
  }
}

/** No request was sent twice, and none that was acknowledged is lost. */
async function assertWrittenOnce({ url }: Balancer, { key }: Deployment, { written, name }: Load): Promise<void> {
  const stored = await presetApi(url, key).everything()
  const ofLoad = stored.filter(({ mark }) => mark.startsWith(name))
  assertThere(written, ofLoad)
}
