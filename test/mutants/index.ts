import { api } from './list/api.ts'
import { base } from './list/base.ts'
import { commands } from './list/commands.ts'
import { contract } from './list/contract.ts'
import { dataset } from './list/dataset.ts'
import { deploy } from './list/deploy.ts'
import { metrics } from './list/metrics.ts'
import { publication } from './list/publication.ts'
import { published } from './list/published.ts'
import { raw } from './list/raw.ts'
import { release } from './list/release.ts'
import { rollup } from './list/rollup.ts'
import { setup } from './list/setup.ts'
import { site } from './list/site.ts'
import { store } from './list/store.ts'
import type { Mutant } from './mutant.ts'

const ROOMS = {
  contract,
  base,
  raw,
  dataset,
  rollup,
  release,
  setup,
  deploy,
  publication,
  site,
  commands,
  api,
  published,
  store,
  metrics,
}

/** All mutants by the room whose promise they break, which stands before the name. */
export const MUTANTS: readonly Mutant[] = Object.entries(ROOMS).flatMap(([room, mutants]) =>
  mutants.map((mutant) => ({ ...mutant, name: `${room}/${mutant.name}` })),
)
