import { z } from 'zod'
import { parseFlag } from '../base/json.ts'

const Base = z.url({
  protocol: /^(https?|file|s3|gs)$/,
  error: 'must be the URL of the copy, such as https://mirror.example.org/tokens or file:///srv/tokens',
})

/** The value of `--base`. Throws `CliError`. */
export function readBase(text: string): string {
  return parseFlag('--base', Base, text)
}
