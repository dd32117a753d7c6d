import { z } from 'zod'
import families from '../../../data/sample/families.json' with { type: 'json' }
import { addDays, daysBetween, UtcDate } from '../../contract/utc-date.ts'
import { seededRandom } from './random.ts'

/** A family of fictional models: a new version about every `cadence_days`, each retired after `lifetime_days`. */
const Family = z.strictObject({
  author: z.string(),
  name: z.string(),
  kind: z.enum(['chat', 'code', 'reasoning', 'vision', 'embedding']),
  size: z.enum(['small', 'medium', 'large']),
  anchor: UtcDate,
  cadence_days: z.int().positive(),
  lifetime_days: z.int().positive(),
  visibility: z.enum(['public', 'private', 'unregistered']),
  has_free: z.boolean().default(false),
  has_alias: z.boolean().default(false),
})
type Family = z.infer<typeof Family>

const FAMILIES = z.array(Family).parse(families)

const ZIPF_EXPONENT = 1.05

const FREE_USE = 0.5

export interface Model {
  slug: string
  /** The name in the edge's log: an alias, if the model has one. */
  upstreamName: string
  name: string
  family: Family
  isFree: boolean
  launch: UtcDate
  retirement: UtcDate
  weight: number
}

/** Every model offered from `first` to `last`, whatever the seed. */
export function modelsBetween(first: UtcDate, last: UtcDate): Model[] {
  return FAMILIES.flatMap((family, index) => {
    const weight = 1 / (index + 1) ** ZIPF_EXPONENT
    const earliest = Math.floor((daysBetween(family.anchor, first) - family.lifetime_days) / family.cadence_days)
    const latest = Math.ceil(daysBetween(family.anchor, last) / family.cadence_days)
    const versions = Array.from({ length: latest - earliest + 1 }, (_, offset) => earliest + offset)
    return versions
      .map((version) => launchOf(family, version))
      .filter((launch) => launch <= last && addDays(launch, family.lifetime_days) > first)
      .flatMap((launch) => variantsOf(family, launch, weight))
  })
}

/** A model's use on a day relative to others, over its launch, succession, retirement and its family's waves. */
export function popularity(model: Model, day: UtcDate): number {
  const age = daysBetween(model.launch, day)
  const left = daysBetween(day, model.retirement)
  if (age < 0 || left <= 0) return 0
  const rampUp = 1 - Math.exp(-(age + 1) / 12)
  const fading = Math.exp(-Math.max(0, age - model.family.cadence_days) / 90)
  const windDown = Math.min(1, left / 30)
  return model.weight * rampUp * fading * windDown * fashion(model.family, day)
}

function launchOf(family: Family, version: number): UtcDate {
  const random = seededRandom('launch', family.author, family.name, version)
  const delay = (random() - 0.5) * 0.3 * family.cadence_days
  return addDays(family.anchor, Math.round(version * family.cadence_days + delay))
}

function variantsOf(family: Family, launch: UtcDate, weight: number): Model[] {
  const dated = `${kebab(family.name)}-${launch.replaceAll('-', '')}`
  const slug = `${kebab(family.author)}/${dated}`
  const model: Model = {
    slug,
    upstreamName: family.has_alias ? dated : slug,
    name: `${family.name} (${launch})`,
    family,
    isFree: false,
    launch,
    retirement: addDays(launch, family.lifetime_days),
    weight,
  }
  if (!family.has_free) return [model]
  const free = { slug: `${slug}:free`, upstreamName: `${model.upstreamName}:free`, name: `${model.name} (free)` }
  return [model, { ...model, ...free, isFree: true, weight: weight * FREE_USE }]
}

function fashion(family: Family, day: UtcDate): number {
  const random = seededRandom('fashion', family.author, family.name)
  const period = 365 * (1 + 2 * random())
  return Math.exp(0.4 * Math.sin(2 * Math.PI * (daysBetween(family.anchor, day) / period + random())))
}

function kebab(name: string): string {
  return name.toLowerCase().replaceAll(' ', '-')
}
