/** What differs from run to run or from commit to commit, held fixed: see `vi.mock` in the tests beside it. */
import { hash } from 'node:crypto'

/** A source of "random" bytes that gives the same ones in every run. */
export function fixedRandom(): { randomBytes(size: number): Buffer; randomUUID(): string } {
  let calls = 0
  const next = () => Buffer.from(hash('sha256', `golden ${calls++}`), 'hex')
  return {
    randomBytes: (size) => Buffer.concat(Array.from({ length: Math.ceil(size / 32) }, next)).subarray(0, size),
    randomUUID: () => {
      const hex = next().toString('hex')
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
    },
  }
}

/** Stands for the hashes of the code, which every commit changes. */
export const FIXED_CODE = {
  hashOfCode: () => '0'.repeat(64),
  hashOfSql: () => '1'.repeat(64),
}
