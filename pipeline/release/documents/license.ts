import { readFileSync } from 'node:fs'
import { SYNTHETIC_NOTICE } from './describe.ts'

let legalCode: string | undefined

/** `LICENSE`: what the license asks for in a few lines, and its legal code in full. */
export function licenseText(attribution: string, synthetic: boolean): string {
  legalCode ??= readFileSync(new URL('../../../LICENSE-DATA', import.meta.url), 'utf8')
  return `${synthetic ? `${SYNTHETIC_NOTICE}\n\n` : ''}The data is licensed under Creative Commons Attribution 4.0 International (CC BY 4.0):
https://creativecommons.org/licenses/by/4.0/

You may share and adapt it, also commercially, if you give credit:
${attribution}

The rest of this file is the legal code of the license.

${legalCode}`
}
