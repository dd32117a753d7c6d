/** Builds that lose their machine. */
import { type Files, realFiles } from '../../pipeline/base/files.ts'

export const LOST = 'the machine is gone'

/** The real file system until step `last`; after it nothing reaches the disk any more. */
export function crashAfter(last: number): Files {
  let steps = 0
  return filesAfter(() => {
    steps += 1
    if (steps > last) throw new Error(LOST)
  })
}

/** The real file system, and the names of the steps that were taken. */
export function recordSteps(): { files: Files; steps: string[] } {
  const steps: string[] = []
  const files = filesWithin((name, _, take) => {
    steps.push(name)
    return take()
  })
  return { files, steps }
}

/** Where to stop among steps that are too many to stop at every one: one in `of`, and the last of each kind. */
export function someSteps(steps: readonly string[], of: number): number[] {
  return [...steps.keys()].filter((step) => {
    const name = steps[step] ?? ''
    return step % of === 0 || step === steps.lastIndexOf(name)
  })
}

/** The real file system with something to happen, or to be waited for, before each of its steps; it is given what the step is. */
export function filesAfter(before: (...given: unknown[]) => Promise<void> | void): Files {
  return filesWithin(async (_, given, take) => {
    await before(...given)
    await take()
  })
}

type Step = (...given: unknown[]) => Promise<void>

/** The real file system with `around` about each of its steps, which happens when `take` is called. */
export function filesWithin(
  around: (name: keyof Files, given: unknown[], take: () => Promise<void>) => Promise<void>,
): Files {
  const steps = Object.entries(realFiles).map(([name, step]) => {
    const instead: Step = (...given) => around(name as keyof Files, given, () => (step as Step)(...given))
    return [name, instead]
  })
  return Object.fromEntries(steps)
}
