import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CliError } from '../base/errors.ts'
import { readIfAny, toText } from '../base/files.ts'
import { parseJson } from '../base/json.ts'
import { Publisher } from '../contract/manifest.ts'
import { contactOf } from './documents/publisher.ts'

const OF_THE_SAMPLE = join(import.meta.dirname, '../../data/publisher.json')
const PLACEHOLDER_HOST = 'example.org'

/** Reads `publisher.json`. Optional for the sample; real logs need one without placeholders. Throws `CliError`. */
export async function readPublisher(dataDir: string, synthetic: boolean): Promise<Publisher> {
  const path = join(dataDir, 'publisher.json')
  const bytes = await readIfAny(path)
  if (bytes === undefined) {
    const sample = await readSampleOne()
    if (synthetic) return sample
    throw new CliError(`there is no ${path}, and ${explain(path, template(sample, ['url', 'contact']))}`)
  }
  const publisher = parseJson(Publisher, toText(bytes, path, CliError), path, CliError)
  const wrong = synthetic ? [] : placeholders(publisher)
  if (wrong.length === 0) return publisher
  const values = wrong.map((field) => `${field} is ${JSON.stringify(publisher[field])}`).join(' and ')
  throw new CliError(
    `${path}: ${values}, which is the placeholder of the sample; ${explain(path, template(publisher, wrong))}`,
  )
}

/** The publisher of your own logs; undefined if there is none but the placeholder. Throws `CliError`. */
export async function ownPublisher(dataDir: string): Promise<Publisher | undefined> {
  const path = join(dataDir, 'publisher.json')
  const bytes = await readIfAny(path)
  if (bytes === undefined) return undefined
  const publisher = parseJson(Publisher, toText(bytes, path, CliError), path, CliError)
  return placeholders(publisher).length > 0 ? undefined : publisher
}

/** Whether the publisher says where the dataset is published: not the placeholder of the sample. */
export function hasOwnUrl({ url }: Publisher): boolean {
  return !isPlaceholder(hostOf(url))
}

const WANTED: Partial<Record<keyof Publisher, string>> = {
  url: 'must be a whole URL with its https://, such as https://tokens.your-company.example',
  contact: 'must be an address for mail, such as data@your-company.example, or a whole URL of a page with its https://',
  ror: 'must be such as https://ror.org/01bj3aw27',
}

function canBeReached(publisher: Publisher): boolean {
  const { email, url = '' } = contactOf(publisher)
  return email !== undefined || /^(?:https?:\/\/|mailto:)/i.test(url)
}

/** What is wrong with a publisher of real logs that init asks for, by field. */
export function publisherProblem(publisher: Publisher, field: keyof Publisher): string | undefined {
  const parsed = Publisher.safeParse(publisher)
  const issue = parsed.error?.issues.find(({ path }) => path[0] === field)
  if (issue !== undefined) return WANTED[field] ?? 'is empty'
  if (field === 'contact' && !canBeReached(publisher)) return WANTED.contact
  const isWrong = parsed.success && placeholders(parsed.data).some((each) => each === field)
  return isWrong ? 'is the placeholder of the sample' : undefined
}

async function readSampleOne(): Promise<Publisher> {
  return parseJson(Publisher, await readFile(OF_THE_SAMPLE, 'utf8'), OF_THE_SAMPLE, CliError)
}

type Address = 'url' | 'contact'

function placeholders(publisher: Publisher): Address[] {
  const { email, url } = contactOf(publisher)
  const contact = email === undefined ? hostOf(url) : (email.split('@').at(-1) ?? '')
  const hosts = { url: hostOf(publisher.url), contact }
  return (['url', 'contact'] as const).filter((field) => isPlaceholder(hosts[field]))
}

function hostOf(url: string | undefined): string {
  return url === undefined ? '' : new URL(url).hostname
}

function isPlaceholder(host: string): boolean {
  return `.${host.toLowerCase().replace(/\.$/, '')}`.endsWith(`.${PLACEHOLDER_HOST}`)
}

function template(publisher: Publisher, wrong: readonly Address[]): Publisher {
  const wanted = {
    url: '<where you publish it: https://…>',
    contact: '<your address for mail, or a page>',
  }
  const name = wrong.length > 1 ? { name: '<your name or that of your company>' } : {}
  return { ...publisher, ...name, ...Object.fromEntries(wrong.map((field) => [field, wanted[field]])) }
}

function explain(path: string, lines: Publisher): string {
  return `a release of your own logs has to say who publishes it. Write into ${path}:\n${JSON.stringify(lines, undefined, 2)}`
}
