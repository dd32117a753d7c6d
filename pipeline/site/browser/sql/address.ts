/** What an address asks, behind its `#`: no server sees it. */
export interface Asked {
  question: string
  /** Undefined for the current release. */
  release: string | undefined
}

const RELEASE = /^\d{8}T\d{6}Z$/

/** Reads what `toHash` writes. Anything else is ignored. */
export function fromHash(hash: string): Asked {
  const asked = new URLSearchParams(hash.replace(/^#/, ''))
  const release = asked.get('release')
  return { question: asked.get('q') ?? '', release: release !== null && RELEASE.test(release) ? release : undefined }
}

export function toHash({ question, release }: Asked): string {
  return `#${new URLSearchParams({ ...(release !== undefined && { release }), q: question })}`
}
