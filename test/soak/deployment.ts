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
      for (const kind of BALANCER_KINDS) figures.push(...(await tryFaults(deployment, [kind], options)))
      return figures
    } finally {
      await deployment.remove()
    }
  },
}

/**
 * Makes every fault behind these balancers, in an order that follows from the seed. A share below 1 ends each fault as soon
 * as it was seen.
 */
export async function tryFaults(
  deployment: Deployment,
  kinds: readonly BalancerKind[],
  { seed, share, signal, report }: SoakOptions,
): Promise<Figure[]> {
  const balancers = await balance(deployment, kinds)
  const dice = diceFrom(seededRandom('deployment', seed))
  const targets = balancers.map(({ url }, position) => ({ url, name: kinds[position]?.name ?? '' }))
  const load = new Load(targets, deployment.key, seed)
  const figures: Figure[] = []
  let what = ''
  try {
    for (const fault of [...shuffled(FAULTS, dice), LAST]) {
      signal.throwIfAborted()
      what = fault.name
      await settle(deployment, balancers)
      const value = await tryFault(fault, { deployment, balancers, load, dice, isShort: share < 1 })
      figures.push({ what, value })
      report(`${what}: ${value}`)
    }
    what = 'what was written'
    await assertWrittenOnce(deployment, balancers, load)
    what = 'both servers are lost'
    await loseBoth(deployment, balancers)
    const names = kinds.map(({ name }) => name).join(' and ')
    return [
      ...figures,
      { what: `versions written behind ${names}, each of them once`, value: `${load.written.length}` },
    ]
  } catch (error) {
    throw new Error(`${what}: ${error}`, { cause: error })
  } finally {
    for (const balancer of balancers) await balancer.stop()
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

/** Each balancer answers by itself, like the API. */
async function loseBoth({ servers }: Deployment, balancers: readonly Balancer[]): Promise<void> {
  for (const { kill } of servers) await kill()
  const urls = balancers.flatMap(({ url }) => [`${url}/healthz`, `${url}/api/v1/key`])
  for (const answer of await Promise.all(urls.map((url) => ask(url)))) {
    assert.equal(answer.status, 503)
    assertRefused(answer)
    assert.equal(answer.headers['access-control-allow-origin'], '*')
  }
}

/** No request was sent twice, and none that was acknowledged is lost. */
async function assertWrittenOnce(
  { key }: Deployment,
  [balancer]: readonly Balancer[],
  { written, name }: Load,
): Promise<void> {
  const stored = await presetApi(balancer?.url ?? '', key).everything()
  const ofLoad = stored.filter(({ mark }) => mark.startsWith(name))
  assertThere(written, ofLoad)
}
