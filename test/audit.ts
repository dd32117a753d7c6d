import { spawnSync } from 'node:child_process'

/** Advisories that do not concern the project, by their address, each with the reason why not. */
const ACCEPTED: Record<string, string> = {}

const GRAVE = new Set(['high', 'critical'])
const LONGEST_WAIT_MS = 30_000

interface Advisory {
  title: string
  url: string
  severity: string
}

/** What npm found, or why nothing is known: the registry does not answer, or has no advisories. */
export type Verdict = { known: true; refused: string[]; noted: string[] } | { known: false; reason: string }

/** Judges what `npm audit --json` printed: a line for each package and advisory that concerns it. */
export function judgeAudit(text: string, accepted = ACCEPTED): Verdict {
  const report = parse(text)
  if (report == null) return { known: false, reason: 'npm audit printed no report' }
  if (report.vulnerabilities === undefined)
    return { known: false, reason: report.message ?? 'the report names nothing' }
  const found = Object.entries(report.vulnerabilities).flatMap(([name, { via }]) =>
    // A text names another package that is listed itself.
    via.filter((advisory) => typeof advisory === 'object').map((advisory) => ({ name, ...advisory })),
  )
  const lines = (isRefused: boolean) =>
    found
      .filter(({ severity, url }) => (GRAVE.has(severity) && accepted[url] === undefined) === isRefused)
      .map(({ name, title, url, severity }) => `${name}: ${title} (${severity}, ${url})`)
  return { known: true, refused: lines(true), noted: lines(false) }
}

interface Report {
  message?: string
  vulnerabilities?: Record<string, { via: (Advisory | string)[] }>
}

function parse(text: string): Report | undefined {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function list(heading: string, lines: string[]): void {
  if (lines.length > 0) process.stderr.write(`${heading}:\n${lines.join('\n')}\n`)
}

/**
 * Known vulnerabilities of what the project runs on. Where they cannot be asked for, there is a note, and the check passes
 * unless `ADVISORIES=required`.
 */
function audit(): void {
  const words = ['audit', '--omit=dev', '--json', '--fetch-retries=0', '--fetch-timeout=10000']
  const { stdout } = spawnSync('npm', words, { encoding: 'utf8', timeout: LONGEST_WAIT_MS })
  const verdict = judgeAudit(stdout ?? '')
  if (!verdict.known) {
    process.stderr.write(`known vulnerabilities were NOT CHECKED: ${verdict.reason}\n`)
    const { ADVISORIES } = process.env
    if (ADVISORIES === 'required') process.exitCode = 1
    return
  }
  list('vulnerabilities of minor severity, or accepted', verdict.noted)
  list(
    'known vulnerabilities; update the package, or accept the advisory in test/audit.ts with the reason',
    verdict.refused,
  )
  if (verdict.refused.length > 0) process.exitCode = 1
}

if (import.meta.main) audit()
