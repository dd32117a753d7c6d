/** A gateway that delivers its logs over days: one workspace, built again and again as of later and later moments. */
import { cp, rename, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { BuildEvent } from '../../pipeline/base/effects.ts'
import { BuildError } from '../../pipeline/base/errors.ts'
import { type Files, realFiles } from '../../pipeline/base/files.ts'
import type { BuildSummary } from '../../pipeline/build-summary.ts'
import {
  buildIn,
  type CliResult,
  copyWorkspace,
  createWorkspace,
  newWorkspace,
  publishedCsv,
  rowsOf,
  runCli,
  settings,
  snapshotTree,
  type Workspace,
  writeInput,
} from './pipeline.ts'
import { COLUMNS, type FileRecord, writeRecords } from './records.ts'

/** Columns of the files that a gateway delivers. */
export const GATEWAY_COLUMNS = [...COLUMNS, 'api_key_hash', 'cost_usd', 'is_byok']

/** What a build said and published. */
export interface Built {
  summary: BuildSummary
  /** Rows as `date model tokens`. */
  rows: string[]
  notices: string[]
}

/** One record of `tokens` at noon. */
export function use(model: string, tokens: number, fields: FileRecord = {}): FileRecord {
  return {
    timestamp: '2025-03-02T12:00:00Z',
    model_permaslug: model,
    prompt_tokens: String(tokens),
    completion_tokens: '0',
    ...fields,
  }
}

/** A record at noon of a date. */
export function useOn(date: string, model: string, tokens: number, fields: FileRecord = {}): FileRecord {
  return use(model, tokens, { timestamp: `${date}T12:00:00Z`, ...fields })
}

/** The `minute`-th moment of a day on which the tests build again and again. */
export function atMinute(minute: number, day = '2025-03-10'): string {
  const [hours, minutes] = [12 + Math.floor(minute / 60), minute % 60]
  return `${day}T${hours}:${String(minutes).padStart(2, '0')}:00Z`
}

/** The folders of one gateway's dataset, and the steps of its life. */
export class Gateway {
  readonly workspace: Workspace
  #minute: number

  /** `minute` is that of the last build. */
  constructor(workspace: Workspace, minute = 0) {
    this.workspace = workspace
    this.#minute = minute
  }

  get minute(): number {
    return this.#minute
  }

  /** The path of a raw file. */
  path(name: string): string {
    return join(this.workspace.input, 'raw', name)
  }

  /** Says what the sources file holds, beside the one public source `gateway` with all files of `raw/`. */
  configure(top: Record<string, unknown> = {}, source: Record<string, unknown> = {}): Promise<void> {
    const gateway = { name: 'gateway', schema: 'canonical', files: ['raw/**/*'], visibility: 'public', ...source }
    const registry = 'models' in top && { max_withheld_share: 1 }
    return writeInput(this.workspace, 'sources.json', { sources: [gateway], ...registry, ...top })
  }

  /** Writes a raw file in the form that its ending names, in the place of one of that name. */
  deliver(name: string, records: FileRecord[], columns = GATEWAY_COLUMNS): Promise<void> {
    return writeRecords(this.path(name), records, { columns })
  }

  takeAway(name: string): Promise<void> {
    return rm(this.path(name))
  }

  rename(from: string, to: string): Promise<void> {
    return rename(this.path(from), this.path(to))
  }

  /** Gives a file a later time of modification and nothing else. */
  async touch(name: string): Promise<void> {
    const { atime, mtimeMs } = await stat(this.path(name))
    await utimes(this.path(name), atime, new Date(mtimeMs + 60_000))
  }

  /** Throws away what builds have kept: it is a cache. */
  forget(): Promise<void> {
    return rm(join(this.workspace.dataDir, 'state'), { recursive: true })
  }

  /** A later moment than every build before. */
  later(): string {
    this.#minute += 1
    return atMinute(this.#minute)
  }

  async build(asOf = this.later(), files: Files = realFiles): Promise<Built> {
    const events: BuildEvent[] = []
    const summary = await buildIn(this.workspace, asOf, { report: (event) => events.push(event), files })
    const notices = events.flatMap((event) => (event.kind === 'notice' ? [event.message] : []))
    return { summary, rows: rowsOf(await publishedCsv(this.workspace)), notices }
  }

  /** Builds and gives the published rows. */
  async rows(asOf?: string): Promise<string[]> {
    return (await this.build(asOf)).rows
  }

  /** The message of a build that must fail and leave everything public as it was. */
  async failure(asOf = this.later()): Promise<string> {
    const before = await snapshotTree(this.workspace.publicDir)
    const error: unknown = await buildIn(this.workspace, asOf).then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    expect(error).toBeInstanceOf(BuildError)
    expect(await snapshotTree(this.workspace.publicDir)).toEqual(before)
    return error instanceof Error ? error.message : ''
  }

  /** A subcommand of the CLI on this dataset. */
  run(args: string[], asOf = this.later()): Promise<CliResult> {
    return runCli(args, settings(this.workspace, asOf))
  }
}

/** A gateway without raw files yet; `top` and `source` as for `configure`. */
export async function newGateway(
  top: Record<string, unknown> = {},
  source: Record<string, unknown> = {},
): Promise<Gateway> {
  const gateway = new Gateway(await newWorkspace())
  await gateway.configure(top, source)
  return gateway
}

/** The same input and nothing else of a gateway: who builds there builds for the first time. */
export async function inputAlone(workspace: Workspace): Promise<Workspace> {
  const fresh = await createWorkspace()
  await cp(workspace.input, fresh.input, { recursive: true, preserveTimestamps: true })
  return fresh
}

/** A copy of a gateway with all it has kept and published, gone when the test is over. */
export async function copyOf(gateway: Gateway): Promise<Gateway> {
  return new Gateway(await copyWorkspace(gateway.workspace), gateway.minute)
}
