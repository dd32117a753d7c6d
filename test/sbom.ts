import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

const ROOT = new URL('..', import.meta.url)

/** What is read here of a CycloneDX document, which has more. */
export interface Sbom {
  serialNumber?: string
  metadata: { timestamp?: string; tools?: unknown; component: { name: string; type: string; version: string } }
  components: { 'bom-ref': string; purl: string; hashes: object[]; licenses: object[] }[]
  dependencies: { ref: string; dependsOn: string[] }[]
}

/**
 * What the project is made of, as CycloneDX: every package of package-lock.json with version, licence, hash, and what needs
 * it; those for development alone have `cdx:npm:package:development`. npm writes it from the lock, without a network; what
 * differs from one run to the next is left out, so that one version of the project has one text.
 */
export function sbomText(): string {
  const words = ['sbom', '--sbom-format=cyclonedx', '--package-lock-only', '--sbom-type=application']
  const text = execFileSync('npm', words, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  const { serialNumber: _, metadata, components, dependencies, ...rest }: Sbom = JSON.parse(text)
  const { timestamp: __, tools: ___, component, ...known } = metadata
  // npm calls the project by the name of the folder that it lies in.
  const { name } = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8'))
  const sorted = {
    ...rest,
    metadata: { ...known, component: { ...component, name } },
    components: components.toSorted((a, b) => compare(a['bom-ref'], b['bom-ref'])),
    dependencies: dependencies.toSorted((a, b) => compare(a.ref, b.ref)),
  }
  return `${JSON.stringify(sorted, undefined, 2)}\n`
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

if (import.meta.main) process.stdout.write(sbomText())
