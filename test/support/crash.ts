/** Builds that lose their machine. */
import { type Files, realFiles } from '../../pipeline/files.ts'

export const LOST = 'the machine is gone'

/** The real file system until step `last`; after it nothing reaches the disk any more. */
export function crashAfter(last: number): { files: Files; steps: () => number } {
  let steps = 0
  const orDie = <Arguments extends unknown[]>(step: (...given: Arguments) => Promise<void>) => {
    return async (...given: Arguments) => {
      steps += 1
      if (steps > last) throw new Error(LOST)
      await step(...given)
    }
  }
  const { makeFolder, write, rename, link, flush, remove } = realFiles
  const files = {
    makeFolder: orDie(makeFolder),
    write: orDie(write),
    rename: orDie(rename),
    link: orDie(link),
    flush: orDie(flush),
    remove: orDie(remove),
  }
  return { files, steps: () => steps }
}

/** The real file system with something to be waited for before each of its steps. */
export function filesAfter(before: () => Promise<void> | void): Files {
  const waiting = <Arguments extends unknown[]>(step: (...given: Arguments) => Promise<void>) => {
    return async (...given: Arguments) => {
      await before()
      await step(...given)
    }
  }
  const { makeFolder, write, rename, link, flush, remove } = realFiles
  return {
    makeFolder: waiting(makeFolder),
    write: waiting(write),
    rename: waiting(rename),
    link: waiting(link),
    flush: waiting(flush),
    remove: waiting(remove),
  }
}
