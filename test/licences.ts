import { readFileSync } from 'node:fs'

/** Licences that let anyone use, change and pass on the project together with the package. */
const ALLOWED = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  'MPL-2.0',
  'OFL-1.1',
  'Python-2.0',
  'Unlicense',
])

interface Lockfile {
  packages: Record<string, { license?: string }>
}

const lockfile: Lockfile = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8'))

/** `MIT OR Apache-2.0` is fine when one of them is; anything that is not understood is refused. */
function isAllowed(license: string): boolean {
  return license
    .replaceAll(/[()]/g, '')
    .split(' OR ')
    .some((choice) => choice.split(' AND ').every((name) => ALLOWED.has(name)))
}

const refused = Object.entries(lockfile.packages)
  .filter(([path, { license }]) => path !== '' && !(license !== undefined && isAllowed(license)))
  .map(([path, { license }]) => `${path}: ${license ?? 'no licence'}`)

if (refused.length > 0) {
  process.stderr.write(`packages whose licence the project does not accept:\n${refused.join('\n')}\n`)
  process.exitCode = 1
}
