import { z } from 'zod'
import { instantSuchAs } from './combinators.ts'

/* Presets in responses and paths (docs/specification.md, Presets). */

const SLUG = /^[A-Za-z0-9][A-Za-z0-9._~-]{0,127}$/
const MAX_VERSION = 2 ** 31 - 1

/** The same as a pattern, because the specification has the number in a text. */
const UP_TO_MAX_VERSION =
  '[1-9][0-9]{0,8}|1[0-9]{9}|20[0-9]{8}|21[0-3][0-9]{7}|214[0-6][0-9]{6}|2147[0-3][0-9]{5}|21474[0-7][0-9]{4}|214748[0-2][0-9]{3}|2147483[0-5][0-9]{2}|21474836[0-3][0-9]|214748364[0-7]'

/** The percent-decoded slug, compared as written. */
export const PresetSlug = z
  .string()
  .min(1, { error: 'must not be empty', abort: true })
  .regex(SLUG, {
    error: 'must begin with a letter or digit and have at most 128 characters, all of them letters, digits or . _ ~ -',
  })
  .meta({ description: 'The name of the preset in paths, unique in the workspace.', examples: ['support-agent'] })

export const VersionNumber = z
  .string()
  .min(1, { error: 'must not be empty', abort: true })
  .regex(/^[1-9][0-9]*$/, { error: 'must be a positive integer without sign or leading zero', abort: true })
  .meta({
    description: `The number of the version, at most ${MAX_VERSION}.`,
    examples: ['1'],
    pattern: `^(${UP_TO_MAX_VERSION})$`,
  })
  .transform(Number)
  .refine((version) => version <= MAX_VERSION, { error: `must be at most ${MAX_VERSION}` })

/** New presets are `active`. No operation sets the others yet. */
export const PresetStatus = z.enum(['active', 'disabled', 'archived']).meta({ id: 'PresetStatus' })
export type PresetStatus = z.infer<typeof PresetStatus>

const Instant = instantSuchAs('2026-11-20T09:30:00.000Z')

const UserId = z.string().meta({ examples: ['user_default'] })

export const PresetVersion = z
  .strictObject({
    id: z.uuid(),
    preset_id: z.uuid().meta({ description: 'The preset to which the version belongs.' }),
    version: z
      .int()
      .min(1)
      .max(MAX_VERSION)
      .meta({ description: 'Counts the versions of a preset from 1, without gaps.' }),
    config: z.record(z.string(), z.unknown()).meta({
      description: 'What a preset keeps of the request, under the names of the request and unchanged.',
      examples: [{ model: 'anthropic/claude-sonnet-4.5', max_tokens: 1024, temperature: 0.2 }],
    }),
    system_prompt: z.string().nullable().meta({
      description: 'The system text of the request, text blocks joined by a blank line; null when it had none.',
    }),
    creator_id: UserId,
    created_at: Instant,
    updated_at: Instant,
  })
  .meta({ id: 'PresetVersion', description: 'One stored request configuration. A version never changes.' })
export type PresetVersion = z.infer<typeof PresetVersion>

export const Preset = z
  .strictObject({
    id: z.uuid(),
    slug: PresetSlug,
    name: z.string().meta({ description: 'The slug, until it is given another.' }),
    description: z.string().nullable(),
    status: PresetStatus,
    status_updated_at: Instant.nullable(),
    workspace_id: z.uuid(),
    creator_user_id: UserId,
    designated_version_id: z.uuid().meta({ description: 'The version that is in use: the newest.' }),
    created_at: Instant,
    updated_at: Instant.meta({ description: 'When its newest version was made.' }),
  })
  .meta({ id: 'Preset', description: 'A named request configuration of a workspace, without the configuration.' })
export type Preset = z.infer<typeof Preset>

export const PresetWithDesignatedVersion = z
  .strictObject({ ...Preset.shape, designated_version: PresetVersion })
  .meta({ id: 'PresetWithDesignatedVersion', description: 'A preset and the version of it that is in use.' })
export type PresetWithDesignatedVersion = z.infer<typeof PresetWithDesignatedVersion>

const TotalCount = z.int().min(0).meta({ description: 'How many there are in all, on this page or not.' })

/** The response of `POST /presets/{slug}/messages` and `GET /presets/{slug}`. */
export const PresetResponse = z.strictObject({ data: PresetWithDesignatedVersion }).meta({ id: 'PresetResponse' })
export type PresetResponse = z.infer<typeof PresetResponse>

export const PresetVersionResponse = z.strictObject({ data: PresetVersion }).meta({ id: 'PresetVersionResponse' })
export type PresetVersionResponse = z.infer<typeof PresetVersionResponse>

export const ListPresetsResponse = z
  .strictObject({ data: z.array(Preset), total_count: TotalCount })
  .meta({ id: 'ListPresetsResponse' })
export type ListPresetsResponse = z.infer<typeof ListPresetsResponse>

export const ListPresetVersionsResponse = z
  .strictObject({ data: z.array(PresetVersion), total_count: TotalCount })
  .meta({ id: 'ListPresetVersionsResponse' })
export type ListPresetVersionsResponse = z.infer<typeof ListPresetVersionsResponse>
