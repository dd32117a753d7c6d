/** What an address asks, behind its `#`: no server sees it. */
export interface Asked {
  question: string
  /** Undefined for the current release. */
  release: string | undefined
  /** What the address has in place of the name of a release. */
  misnamed?: string
}

const RELEASE = /^\d{8}T\d{6}Z$/

/** Reads what `toHash` writes. */
export function fromHash(hash: string): Asked {
  const asked = new URLSearchParams(hash.replace(/^#/, ''))
  const question = asked.get('q') ?? ''
  const release = asked.get('release') ?? undefined
  if (release === undefined || RELEASE.test(release)) return { question, release }
  return { question, release: undefined, misnamed: release }
}

export function toHash({ question, release }: Omit<Asked, 'misnamed'>): string {
  return `#${new URLSearchParams({ ...(release !== undefined && { release }), q: question })}`
}
