/** `tokenboard init` in the process of a test. */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { readPipelineConfig } from '../../pipeline/base/config.ts'
import type { Effects } from '../../pipeline/base/effects.ts'
import { realFiles } from '../../pipeline/base/files.ts'
import { type InitOptions, type InitResult, NO_OPTIONS, runInit } from '../../pipeline/commands/run-init.ts'
import { effectsWith, newWorkspace, settings, type Workspace, writeInput } from './pipeline.ts'
import { TEST_PUBLISHER } from './publisher.ts'

export const AS_OF = '2026-10-31T12:00:00Z'

interface Done extends InitResult {
  /** What a person saw. */
  shown: string
}

/** A workspace without a publisher, in whose folder `logs` these files lie. */
export async function workspaceWith(logs: Record<string, string | Uint8Array>): Promise<Workspace> {
  const workspace = await newWorkspace()
  await realFiles.remove(join(workspace.dataDir, 'publisher.json'))
  await mkdir(join(workspace.input, 'logs'))
  for (const [name, content] of Object.entries(logs)) await writeInput(workspace, `logs/${name}`, content)
  return workspace
}

/** Answers are lines; none stands for nobody who answers. */
export async function initIn(
  workspace: Workspace,
  options: Partial<InitOptions> = {},
  { answers = [], asOf = AS_OF, effects = {} }: { answers?: string[]; asOf?: string; effects?: Partial<Effects> } = {},
): Promise<Done> {
  const config = { ...readPipelineConfig(settings(workspace, asOf)), threads: 1 }
  const all = effectsWith(effects)
  let shown = ''
  const write = (text: string) => {
    shown += text
  }
  const input = Readable.from(answers.map((answer) => `${answer}\n`))
  const done = await runInit(
    [join(workspace.input, 'logs')],
    { ...NO_OPTIONS, ...options },
    { config, effects: all, input, write },
  )
  return { ...done, shown }
}

const { name: publisherName, url: publisherUrl, contact } = TEST_PUBLISHER
export const YES = { yes: true, publisherName, publisherUrl, contact }
