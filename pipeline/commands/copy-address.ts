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

const Repository = z.string().regex(/^[A-Za-z0-9][\w.-]*\/[A-Za-z0-9][\w.-]*$/, {
  error: 'must be the name of a repository with its owner, such as acme/tokens',
})

/** The value of `--repo`. Throws `CliError`. */
export function readRepository(text: string): string {
  return parseFlag('--repo', Repository, text)
}
