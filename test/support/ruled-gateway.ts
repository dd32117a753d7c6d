/** A gateway with customers whose releases are made under a disclosure rule. */
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { readPipelineConfig } from '../../pipeline/base/config.ts'
import { realFiles } from '../../pipeline/base/files.ts'
import type { BuildOptions } from '../../pipeline/build.ts'
import type { BuildSummary } from '../../pipeline/build-summary.ts'
import { DisclosureFile } from '../../pipeline/contract/disclosure-file.ts'
import { Coverage } from '../../pipeline/contract/ledger.ts'
import { Manifest } from '../../pipeline/contract/manifest.ts'
import { verify } from '../../pipeline/publication/verify.ts'
import { type Reproduction, reproduce } from '../../pipeline/reproduce.ts'
import { type Gateway, newGateway, useOn } from './gateway.ts'
import { buildIn, datasetFolder, publishedCsv, releaseFolder, rowsOf, settings } from './pipeline.ts'
import { COLUMNS, type FileRecord } from './records.ts'

export const RULE = { min_contributors: 3, p_percent: 10, publish_after_days: 1 }

/** Tokens of customers by model. */
export type Day = Record<string, Record<string, number>>

/** A model that the rule lets through, whatever the secret bound is. */
export const SAFE = { anna: 26, ben: 20, cleo: 14 }

/** One record for each customer of each model. */
export function recordsOf(date: string, day: Day, fields: FileRecord = {}): FileRecord[] {
  return Object.entries(day).flatMap(([model, customers]) =>
    Object.entries(customers).map(([contributor, tokens]) => useOn(date, model, tokens, { contributor, ...fields })),
  )
}

export class RuledGateway {
  readonly gateway: Gateway

  constructor(gateway: Gateway) {
    this.gateway = gateway
  }

  get workspace() {
    return this.gateway.workspace
  }

  get datesFile(): string {
    return join(this.workspace.dataDir, 'disclosure/dates.ndjson')
  }

  /** Writes the sources file. `undefined` says nothing of disclosure control. */
  rule(disclosure: unknown, source: Record<string, unknown> = {}, top: Record<string, unknown> = {}): Promise<void> {
    const given = disclosure === undefined ? {} : { disclosure }
    return this.gateway.configure({ on_missing: 'remove', ...given, ...top }, source)
  }

  /** Puts the file of a date, or another one, in the place of one of that name. */
  deliver(date: string, day: Day, { name = date, fields = {} }: { name?: string; fields?: FileRecord } = {}) {
    const columns = [...COLUMNS, 'contributor', 'api_key_hash']
    return this.gateway.deliver(`${name}.ndjson`, recordsOf(date, day, fields), columns)
  }

  /** Builds at noon of a date, and gives the published rows as `date model tokens`. */
  async build(date: string, options: BuildOptions = {}): Promise<string[]> {
    await this.summary(date, options)
    return rowsOf(await publishedCsv(this.workspace))
  }

  /** The published weeks as `date model tokens days`. */
  async weeks(): Promise<string[]> {
    return rowsOf(await readFile(join(await releaseFolder(this.workspace), 'rankings-weekly.csv'), 'utf8'))
  }

  summary(date: string, options: BuildOptions = {}): Promise<BuildSummary> {
    return buildIn(this.workspace, `${date}T12:00:00Z`, {}, options)
  }

  async manifest(): Promise<Manifest> {
    return Manifest.parse(await this.#read('manifest.json'))
  }

  async disclosure(): Promise<DisclosureFile> {
    return DisclosureFile.parse(await this.#read('disclosure.json'))
  }

  /** What only the maintainer sees. */
  async privateDetail(): Promise<unknown> {
    return JSON.parse(await readFile(join(this.workspace.dataDir, 'state/disclosure.json'), 'utf8'))
  }

  async coverage(): Promise<Coverage> {
    return Coverage.parse(JSON.parse(await readFile(join(datasetFolder(this.workspace), 'coverage.json'), 'utf8')))
  }

  /** `date status` of each day, or why it is missing. */
  async days(): Promise<string[]> {
    return (await this.coverage()).days.map(({ date, status, reason }) => `${date} ${reason ?? status}`)
  }

  async #read(name: string): Promise<unknown> {
    return JSON.parse(await readFile(join(await releaseFolder(this.workspace), name), 'utf8'))
  }

  /** Verifies everything that is published. */
  async verify(): Promise<void> {
    const { signal } = new AbortController()
    await verify(this.workspace.publicDir, { signal, report: () => {}, withPages: true })
  }

  reproduce(date: string): Promise<Reproduction> {
    const config = readPipelineConfig(settings(this.workspace, ''))
    const { signal } = new AbortController()
    const effects = { now: () => new Date('2026-11-20T00:12:00Z'), report: () => {}, signal, files: realFiles }
    return reproduce({ ...config, threads: 1 }, effects, `${date.replaceAll('-', '')}T120000Z`)
  }

  /** Removes everything but raw files, archive and `data/disclosure`. */
  async startFromNothing(): Promise<void> {
    const { publicDir, dataDir } = this.workspace
    await rm(publicDir, { recursive: true })
    for (const name of ['ledger', 'state']) await rm(join(dataDir, name), { recursive: true })
  }
}

export async function newRuledGateway(disclosure: unknown = RULE): Promise<RuledGateway> {
  const gateway = new RuledGateway(await newGateway())
  await gateway.rule(disclosure)
  return gateway
}
