/** Small histories: releases of a few dates, and what `verify` says of them. */
import type { BuildOptions } from '../../pipeline/build.ts'
import { verify } from '../../pipeline/publication/verify.ts'
import { buildIn, type Workspace, writeSmallBuild } from './pipeline.ts'

/** Tokens of a model on a date; the model is `a` unless told otherwise. */
export type Use = readonly [date: string, tokens: number, model?: string]

/** Puts these uses in the place of what was delivered before. */
export function deliver(workspace: Workspace, uses: readonly Use[], top: Record<string, unknown> = {}): Promise<void> {
  const records = uses.map(([date, tokens, model_permaslug = 'a']) => {
    return { timestamp: `${date}T12:00:00Z`, model_permaslug, prompt_tokens: String(tokens) }
  })
  return writeSmallBuild(workspace, { sources: [{ records }], top: { on_missing: 'remove', ...top } })
}

/** Delivers and builds. Returns the name of the current release. */
export async function release(
  workspace: Workspace,
  uses: readonly Use[],
  asOf: string,
  options: BuildOptions = {},
): Promise<string> {
  await deliver(workspace, uses)
  return (await buildIn(workspace, asOf, {}, options)).release
}

export function verifyFolder(publicDir: string, { withPages = true } = {}): ReturnType<typeof verify> {
  return verify(publicDir, { signal: new AbortController().signal, report: () => {}, withPages })
}
