import { Command } from '@commander-js/extra-typings'
import { z } from 'zod'
import type { CreatedKey } from '../../server/store/keys.ts'
import { UsageError } from '../errors.ts'
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
  .description('make an API key and print it; it cannot be shown again')
  .option('--management', 'the key may create presets')
  .option('--name <text>', 'what the key is for')
  .option('--user <user_id>', 'the account that the key belongs to')
  .option('--workspace <uuid>', 'the workspace whose presets the key sees')
  .option('--expires <instant>', 'when the key stops working (ISO 8601)')
  .option('--limit <usd>', 'spending limit in USD')
  .option('--limit-reset <period>', 'when the spending limit starts anew: daily, weekly or monthly')
  .option('--include-byok', 'count usage of own provider keys towards the limit')
  .option('--free-tier', 'mark the key as one of the free tier')
  .option('--json', 'print a JSON object instead of the key alone')
  .action(async ({ json, ...given }) => {
    const options = parseOptions(given)
    const { databaseUrl } = await serverConfig()
    const { apiKeys } = await import('../../server/store/keys.ts')
    const { openStore } = await import('../../server/store/store.ts')
    const store = await openStore(databaseUrl)
    try {
      const created = await apiKeys(store).create(
        {
          name: options.name,
          userId: options.user,
          workspaceId: options.workspace,
          isManagement: options.management,
          isFreeTier: options.freeTier,
          expiresAt: options.expires,
          limitUsd: options.limit,
          limitReset: options.limitReset,
          includeByokInLimit: options.includeByok,
        },
        new Date(),
      )
      process.stdout.write(`${json ? JSON.stringify(printable(created)) : created.secret}\n`)
    } finally {
      await store.close()
    }
  })

/** `tokenboard key`: API keys. Without a subcommand it creates one, which is what `make key` does (DESIGN.md §5). */
export const key = new Command('key')
  .description('manage API keys; creates one when no subcommand is named')
  .addCommand(create, { isDefault: true })
  .addHelpText('after', () => `\n${create.helpInformation()}`)

/** What `--json` prints: the secret as `key`, and what the store keeps of it but the hash. */
function printable({ secret, key: { hash: _, ...stored } }: CreatedKey) {
  return {
    key: secret,
    ...stored,
    is_management: stored.is_management === 1,
    is_free_tier: stored.is_free_tier === 1,
    include_byok_in_limit: stored.include_byok_in_limit === 1,
  }
}

function parseOptions(given: Record<string, string | boolean>): z.output<typeof KeyOptions> {
  const parsed = KeyOptions.safeParse(given)
  if (parsed.success) return parsed.data
  const problems = parsed.error.issues.map(({ path, message }) => {
    const option = String(path[0])
    return `${asFlag(option)} ${JSON.stringify(given[option])} ${message}`
  })
  throw new UsageError(problems.join('; '))
}

/** `limitReset` -> `--limit-reset`. */
function asFlag(option: string): string {
  return `--${option.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
}
