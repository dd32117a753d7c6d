/** Builds that lose their machine. */
import { type Files, realFiles } from '../../pipeline/files.ts'

export const LOST = 'the machine is gone'

/** The real file system until step `last`; after it nothing reaches the disk any more. */
export function crashAfter(last: number): { files: Files; steps: () => number } {
  let steps = 0
  const files = filesAfter(() => {
    steps += 1
    if (steps > last) throw new Error(LOST)
  })
  return { files, steps: () => steps }
}

type Step = (...given: unknown[]) => Promise<void>

/** The real file system with something to happen, or to be waited for, before each of its steps; it is given what the step is. */
export function filesAfter(before: (...given: unknown[]) => Promise<void> | void): Files {
  const waiting = (step: Step): Step => {
    return async (...given) => {
      await before(...given)
      await step(...given)
    }
  }
  const steps = Object.entries(realFiles).map(([name, step]) => [name, waiting(step as Step)])
  return Object.fromEntries(steps)
}
