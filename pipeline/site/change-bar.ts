import { type Html, html } from '../contract/html.ts'

export interface Changed {
  before: bigint
  after: bigint
}

const HALF = 50

/** Draws changes in percent, each from the middle: more to the right, less to the left, the largest to an end. */
export function changeBars(changes: readonly Changed[]): (change: Changed) => Html {
  const largest = Math.max(...changes.map((change) => Math.abs(percentOf(change))), 0)
  return (change) => {
    if (largest === 0 || change.before === 0n) return html``
    const width = Math.round((percentOf(change) / largest) * HALF * 10) / 10
    return html`<svg class="bar change-bar" viewBox="${-HALF} 0 ${2 * HALF} 10" preserveAspectRatio="none" aria-hidden="true"><path d="M0,1h${width}v8H0z"/><path d="M-.5,0h1v10h-1z"/></svg>`
  }
}

function percentOf({ before, after }: Changed): number {
  return before === 0n ? 0 : Number(((after - before) * 1_000_000n) / before) / 10_000
}
