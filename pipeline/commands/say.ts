import { withGivenPaths } from '../base/config.ts'

/** Writes what people read to stderr, with the paths of the settings as they were given. */
export function say(text: string): void {
  process.stderr.write(withGivenPaths(text))
}
