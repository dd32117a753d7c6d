import { SCENARIOS } from '../support/fault-scenarios.ts'
import { haveFail, loseMachines, makeReady } from '../support/fault-trials.ts'
import { FAULTS } from '../support/faults.ts'
import { killBuilds } from './kill-builds.ts'
import { type Figure, type SoakOptions, type SoakPart, shareOf } from './part.ts'

const KILLS = 200

export const part: SoakPart = {
  name: 'publish',
  promise:
    'Whatever stops a build, an archive, a withdrawal or an export, a whole release is current, and the next command mends the rest.',
  run,
}

async function run(options: SoakOptions): Promise<Figure[]> {
  return [...(await interruptAtEffects(options)), ...(await killBuilds(shareOf(KILLS, options), options))]
}

/** Each chosen effect of each command is where the machine is lost, before it and amid it, and where one fault begins. */
export async function interruptAtEffects(options: SoakOptions): Promise<Figure[]> {
  const { seed, share, signal, report } = options
  const stride = Math.max(1, Math.round(1 / share))
  const figures: Figure[] = []
  for (const scenario of SCENARIOS) {
    const ready = await makeReady(scenario)
    try {
      const isChosen = (effect: number) => {
        signal.throwIfAborted()
        return (effect + seed) % stride === 0
      }
      const { times } = await loseMachines(ready, isChosen)
      let failed = 0
      for (const [kind, fault] of FAULTS.entries()) {
        const isOfKind = (effect: number) => isChosen(effect) && Math.floor(effect / stride) % FAULTS.length === kind
        failed += (await haveFail(ready, fault, isOfKind)).times
      }
      report(`${scenario.name}: lost ${times} machines, had ${failed} effects fail`)
      figures.push({
        what: `${scenario.name}: machines lost before or amid an effect, of ${ready.effects} effects`,
        value: `${times}`,
      })
      figures.push({ what: `${scenario.name}: effects that failed with ${FAULTS.join(', ')}`, value: `${failed}` })
    } finally {
      await ready.remove()
    }
  }
  return figures
}
