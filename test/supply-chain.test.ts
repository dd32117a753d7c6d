import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { judgeAudit } from './audit.ts'
import { type Sbom, sbomText } from './sbom.ts'

const ROOT = join(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: ROOT })
  .toString()
  .split('\n')
  .slice(0, -1)

interface LockedPackage {
  name?: string
  version: string
  resolved?: string
  integrity?: string
  link?: boolean
  hasInstallScript?: boolean
}

const lock: { lockfileVersion: number; packages: Record<string, LockedPackage> } = JSON.parse(read('package-lock.json'))
const { '': project, ...packages } = lock.packages
const nameOf = (path: string, { name }: LockedPackage) => name ?? path.slice(path.lastIndexOf('node_modules/') + 13)

describe('package-lock.json', () => {
  it('has the dependencies of package.json', () => {
    const { dependencies, devDependencies, optionalDependencies } = JSON.parse(read('package.json'))
    expect(project).toMatchObject({ dependencies, devDependencies, optionalDependencies })
  })

  it('has the SHA-512 of every package, and no address of a registry', () => {
    expect(Object.keys(packages).length).toBeGreaterThan(100)
    for (const [path, { version, integrity, resolved, link }] of Object.entries(packages)) {
      expect(integrity, path).toMatch(/^sha512-[\w+/]{86}==$/)
      expect(version, path).toMatch(/^\d+\.\d+\.\d+(-[\w.-]+)?$/)
      expect([resolved, link], path).toEqual([undefined, undefined])
    }
  })
})

describe('install scripts', () => {
  it('never run: every npm command has --ignore-scripts', () => {
    const installs = tracked
      .filter((path) => /(^|\/)(Makefile|Dockerfile|run|[^/]+\.(md|ya?ml|sh))$/.test(path))
      .flatMap((path) =>
        [...read(path).matchAll(/^(?!\s*#).*(?<!`)\bnpm (ci|i|install|add|update|rebuild)\b.*/gm)].map(([line]) => ({
          path,
          line,
        })),
      )
    expect(installs.map(({ path }) => path)).toContain('Makefile')
    for (const { path, line } of installs) expect(line, path).toContain('--ignore-scripts')
  })

  it('exist only in packages that work without them', () => {
    const scripted = Object.entries(packages).filter(([, { hasInstallScript }]) => hasInstallScript)
    expect(new Set(scripted.map(([path, locked]) => nameOf(path, locked)))).toEqual(
      new Set(['@openrouter/sdk', 'esbuild']),
    )
  })

  it('do not exist in the project itself', () => {
    const { scripts } = JSON.parse(read('package.json'))
    expect(
      Object.keys(scripts).filter((name) => /^(pre|post)|install|prepare|publish|dependencies/.test(name)),
    ).toEqual([])
  })
})

describe('the SBOM', () => {
  const text = sbomText()
  const sbom: Sbom = JSON.parse(text)

  it('lists exactly the packages of package-lock.json, with hash and license', () => {
    const locked = Object.entries(packages).map(([path, entry]) => `${nameOf(path, entry)}@${entry.version}`)
    expect(sbom.components.map((component) => component['bom-ref'])).toEqual([...new Set(locked)].toSorted())
    for (const { purl, hashes, licenses } of sbom.components) {
      expect(purl).toMatch(/^pkg:npm\/.+@.+$/)
      expect([hashes.length, licenses.length], purl).toEqual([1, 1])
    }
  })

  it('describes the project and its dependencies', () => {
    expect(sbom).toMatchObject({
      bomFormat: 'CycloneDX',
      metadata: { component: { name: 'tokenboard', type: 'application' } },
    })
    const references = new Set(sbom.components.map((component) => component['bom-ref']))
    for (const { dependsOn } of sbom.dependencies) for (const needed of dependsOn) expect(references).toContain(needed)
    expect(sbom.dependencies.find(({ ref }) => ref.startsWith('tokenboard@'))?.dependsOn.length).toBeGreaterThan(30)
  })

  it('has the same bytes each time', () => {
    expect(text).toBe(sbomText())
    expect(text).not.toMatch(/serialNumber|timestamp/)
  })
})

describe('known vulnerabilities', () => {
  const advisory = { title: 'Prototype pollution', url: 'https://github.com/advisories/GHSA-x', severity: 'high' }
  const report = (...via: (object | string)[]) =>
    JSON.stringify({ vulnerabilities: { one: { via }, two: { via: ['one'] } } })

  it('fail the check if their severity is high or critical, each named once', () => {
    const line = 'one: Prototype pollution (high, https://github.com/advisories/GHSA-x)'
    expect(judgeAudit(report(advisory))).toEqual({ known: true, refused: [line], noted: [] })
    expect(judgeAudit(report({ ...advisory, severity: 'critical' }))).toMatchObject({
      refused: [expect.stringMatching(/^one/)],
    })
  })

  it('are only listed if their severity is lower or they are accepted with a reason', () => {
    for (const severity of ['low', 'moderate']) {
      expect(judgeAudit(report({ ...advisory, severity }))).toMatchObject({ refused: [], noted: [expect.any(String)] })
    }
    expect(judgeAudit(report(advisory), { [advisory.url]: 'it is never called' })).toMatchObject({ refused: [] })
  })

  it('are not found in a clean report', () => {
    expect(judgeAudit('{"vulnerabilities":{}}')).toEqual({ known: true, refused: [], noted: [] })
  })

  it.each([
    ['{"message":"405 Method Not Allowed","error":{}}', '405 Method Not Allowed'],
    ['', 'npm audit printed no report'],
    ['<html>', 'npm audit printed no report'],
    ['{}', 'the report names nothing'],
  ])('are unknown if npm audit prints no report: %s', (text, reason) => {
    expect(judgeAudit(text)).toEqual({ known: false, reason })
  })

  it.each([
    ['', 0],
    ['required', 1],
  ])('that npm cannot be asked for exit so with ADVISORIES=%s: %i', (ADVISORIES, status) => {
    const env = { ...process.env, ADVISORIES, npm_config_registry: 'http://127.0.0.1:1' }
    const audit = spawnSync(process.execPath, ['test/audit.ts'], { cwd: ROOT, env, encoding: 'utf8' })
    expect(audit.stderr).toContain('NOT CHECKED')
    expect(audit.status).toBe(status)
  })
})
