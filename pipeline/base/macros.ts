import { readStatement } from './statements.ts'

/** A macro of `macros.sql`, and the SQL that defines it. */
export interface Macro {
  name: string
  sql: string
}

let known: ReadonlyMap<string, Macro> | undefined

/** The macros that some SQL calls, and those that these call, in the order in which they are defined. */
export function macrosFor(sql: string): Macro[] {
  known ??= new Map(readMacros().map((macro) => [macro.name, macro]))
  const macros = known
  const needed = new Set<Macro>()
  const need = (text: string) => {
    for (const [, name = ''] of text.matchAll(/(\w+)\(/g)) {
      const macro = macros.get(name)
      if (macro === undefined || needed.has(macro)) continue
      needed.add(macro)
      need(macro.sql)
    }
  }
  need(sql)
  return needed.size === 0 ? [] : [...macros.values()].filter((macro) => needed.has(macro))
}

function readMacros(): Macro[] {
  return readStatement('macros/define')
    .split(/;\n\n|;$/)
    .filter((sql) => sql !== '')
    .map((sql) => ({ sql, name: /^CREATE OR REPLACE TEMP MACRO (\w+)\(/m.exec(sql)?.[1] ?? '' }))
}
