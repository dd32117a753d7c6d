import { Command } from '@commander-js/extra-typings'
import { z } from 'zod'
import type { ApiKey, ApiKeys, CreatedKey } from '../../server/store/keys.ts'
import { BuildError, CliError } from '../base/errors.ts'
import { parseNamed } from '../base/json.ts'
import { table } from './output.ts'
import { serverConfig } from './serve.ts'

const KeyOptions = z.object({
  management: z.boolean().default(false),
  name: z.string().trim().min(1, { error: 'must not be empty' }).optional(),
  user: z
    .string()
    .regex(/^user_[A-Za-z0-9_-]+$/, { error: 'must have the form user_ID' })
    .optional(),
  workspace: z.uuid({ error: 'must be a UUID' }).optional(),
  expires: z.iso
    .datetime({ offset: true, error: 'must be an ISO 8601 instant, such as 2027-01-01T00:00:00Z' })
    .transform((text) => new Date(text))
    .refine((instant) => instant > new Date(), { error: 'must lie in the future' })
    .optional(),
  limit: z
    .string()
    .regex(/^\d{1,9}(\.\d{1,9})?$/, { error: 'must be an amount of USD such as 25 or 0.5' })
    .optional(),
  limitReset: z.enum(['daily', 'weekly', 'monthly'], { error: 'must be daily, weekly or monthly' }).optional(),
  includeByok: z.boolean().default(false),
  freeTier: z.boolean().default(false),
})

const create = new Command('create')
  .description('Make an API key and print it. It cannot be shown again.')
  .option('--management', 'the key may create presets')
  .option('--name <text>', 'what the key is for')
  .option('--user <user_id>', 'the account that the key belongs to')
  .option('--workspace <uuid>', 'the workspace whose presets the key sees')
  .option('--expires <instant>', 'when the key stops working (ISO 8601)')
  .option('--limit <usd>', 'spending limit in USD')
  .option('--limit-reset <period>', 'when the spending limit starts again: daily, weekly or monthly')
  .option('--include-byok', 'count usage of own provider keys towards the limit')
  .option('--free-tier', 'mark the key as one of the free tier')
  .option('--json', 'print a JSON object instead of the key alone')
  .action(async ({ json = false, ...given }) => {
    const options = parseNamed(KeyOptions, given, asFlag)
    const details = {
      name: options.name,
      userId: options.user,
      workspaceId: options.workspace,
      isManagement: options.management,
      isFreeTier: options.freeTier,
      expiresAt: options.expires,
      limitUsd: options.limit,
      limitReset: options.limitReset,
      includeByokInLimit: options.includeByok,
    }
    printCreated(await withKeys((keys) => keys.create(details, new Date())), { json })
  })

const list = new Command('list')
  .description('List all keys, also revoked and expired ones, without the keys themselves.')
  .option('--json', 'print a JSON array instead of a table')
  .action(async ({ json = false }) => {
    const keys = await withKeys((all) => all.list())
    const rows = keys.map((key) => Object.values(COLUMNS).map((column) => column(key)))
    if (json) print(JSON.stringify(keys.map(toJson)))
    else process.stdout.write(table([Object.keys(COLUMNS), ...rows]))
  })

const KEY_ARGUMENT = 'its label, such as sk-tb-v1-0a1...e9f, or its id; `key list` shows both'

const revoke = new Command('revoke')
  .description('Revoke a key. Every running server refuses it at once.')
  .argument('<key>', KEY_ARGUMENT)
  .option('--json', 'print the revoked key as a JSON object')
  .action(async (name, { json = false }) => {
    const revoked = await withKeys(async (keys) => keys.revoke((await findOne(keys, name)).id, new Date()))
    if (revoked === undefined) throw new BuildError(`the key ${name} is gone`)
    print(json ? JSON.stringify(toJson(revoked)) : `revoked ${revoked.label} (${revoked.id})`)
  })

const rotate = new Command('rotate')
  .description('Make a key with the attributes of another, print it, and revoke the other.')
  .argument('<key>', KEY_ARGUMENT)
  .option('--json', 'print a JSON object instead of the new key alone')
  .action(async (name, { json = false }) => {
    const created = await withKeys(async (keys) => keys.rotate((await findOne(keys, name)).id, new Date()))
    if (created === undefined) {
      throw new BuildError(`the key ${name} is revoked or expired already; make a new one with "key create"`)
    }
    printCreated(created, { json })
  })

export const key = new Command('key')
  .description('Manage API keys. Without a subcommand, create one.')
  .addCommand(create, { isDefault: true })
  .addCommand(list)
  .addCommand(revoke)
  .addCommand(rotate)
  .addHelpText('after', () => `\n${create.helpInformation()}`)

async function withKeys<T>(work: (keys: ApiKeys) => Promise<T>): Promise<T> {
  const { databaseUrl } = await serverConfig()
  const { apiKeys } = await import('../../server/store/keys.ts')
  const { openStore } = await import('../../server/store/store.ts')
  const store = await openStore(databaseUrl)
  try {
    return await work(apiKeys(store))
  } finally {
    await store.close()
  }
}

/** Throws `CliError` unless exactly one key has this label or id. */
async function findOne(keys: ApiKeys, name: string): Promise<ApiKey> {
  const found = await keys.findByName(name)
  const [key] = found
  if (key === undefined) throw new CliError(`there is no key with the label or id ${JSON.stringify(name)}`)
  if (found.length === 1) return key
  throw new CliError(
    `${found.length} keys have the label ${name}; say which by its id:\n${found.map(describe).join('\n')}`,
  )
}

function describe({ id, name, creator_user_id, created_at, revoked_at }: ApiKey): string {
  const end = revoked_at === null ? '' : `, revoked ${revoked_at}`
  return `  ${id}  ${JSON.stringify(name ?? '')} of ${creator_user_id}, made ${created_at}${end}`
}

function printCreated(created: CreatedKey, { json }: { json: boolean }): void {
  print(json ? JSON.stringify({ key: created.secret, ...toJson(created.key) }) : created.secret)
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}

function toJson({ hash: _, ...stored }: ApiKey) {
  return {
    ...stored,
    is_management: stored.is_management === 1,
    is_free_tier: stored.is_free_tier === 1,
    include_byok_in_limit: stored.include_byok_in_limit === 1,
  }
}

const NOTHING = '-'
const COLUMNS: Record<string, (key: ApiKey) => string> = {
  label: ({ label }) => label,
  id: ({ id }) => id,
  name: ({ name }) => name ?? NOTHING,
  user: ({ creator_user_id }) => creator_user_id,
  workspace: ({ workspace_id }) => workspace_id,
  flags: flagsOf,
  limit: limitOf,
  created: ({ created_at }) => created_at,
  expires: ({ expires_at }) => expires_at ?? NOTHING,
  revoked: ({ revoked_at }) => revoked_at ?? NOTHING,
}

function flagsOf({ is_management, is_free_tier }: ApiKey): string {
  const flags = [...(is_management === 1 ? ['management'] : []), ...(is_free_tier === 1 ? ['free-tier'] : [])]
  return flags.join(',') || NOTHING
}

function limitOf({ limit_usd, limit_reset, include_byok_in_limit }: ApiKey): string {
  if (limit_usd === null) return NOTHING
  return `${limit_usd}${limit_reset === null ? '' : ` ${limit_reset}`}${include_byok_in_limit === 1 ? ' +byok' : ''}`
}

function asFlag(option: string): string {
  return `--${option.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}
