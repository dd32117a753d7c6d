/** The releases of a case below test/cases, as its expected files have them, with the records behind their numbers. */
import { existsSync, readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { readTextIfAny } from '../../pipeline/base/files.ts'
import { type AttackedRelease, attackedRelease, rowsOfTables } from './attacked-gateway.ts'
import { readSteps } from './cases.ts'
import type { Rule } from './disclosure-oracle.ts'
import { REPOSITORY } from './pipeline.ts'
import type { LoggedUse } from './random-gateway.ts'

const Registry = z.array(z.object({ model_permaslug: z.string(), aliases: z.array(z.string()), public: z.boolean() }))

/** `rule` is the one that a case without a rule is judged by. */
export async function releasesOfCase(
  name: string,
  rule: Rule,
  { isRuled }: { isRuled: boolean },
): Promise<AttackedRelease[]> {
  const files = new Map<string, string>()
  const releases: AttackedRelease[] = []
  for (const { folder, AS_OF } of await readSteps(join(REPOSITORY, 'test/cases', name))) {
    const input = join(folder, 'input')
    for (const file of existsSync(input) ? readdirSync(input) : [])
      files.set(file, await readFile(join(input, file), 'utf8'))
    const csvOf = (table: string) => readTextIfAny(join(folder, `expected/rankings-${table}.csv`))
    const registry = Registry.parse(JSON.parse(files.get('models.json') ?? ''))
    const uses = [...files].flatMap(([file, text]) => (file.endsWith('.csv') ? usesOf(file, text) : []))
    const moment = { uses, registry, rule }
    releases.push(
      attackedRelease(await rowsOfTables(AS_OF, csvOf), { moment, previous: isRuled ? releases.at(-1) : undefined }),
    )
  }
  return releases
}

function usesOf(file: string, text: string): LoggedUse[] {
  const lines = text.trimEnd().split('\n').slice(1)
  return lines.map((line, position) => {
    const [timestamp = '', name = '', tokens = '', , contributor = '', visibility] = line.split(',')
    const date = timestamp.slice(0, 10)
    const isPrivate = visibility === 'private'
    return { id: `${file}:${position}`, date, name, contributor, tokens: Number(tokens), isPrivate, isExempt: false }
  })
}
