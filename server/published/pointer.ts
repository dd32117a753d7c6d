import { join } from 'node:path'
import { POINTER_PATH } from '../../pipeline/contract/published-paths.ts'

/** `latest.json`, which names the current release. */
export function pointerPath(publicDir: string): string {
  return join(publicDir, POINTER_PATH)
}
