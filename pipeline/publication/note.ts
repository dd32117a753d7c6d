import { CliError } from '../base/errors.ts'
import { RestatementNote } from '../contract/reason.ts'

/** Validates the text of an option such as `--note`. Throws `CliError` that names the option. */
export function readNote(option: string, text: string): string {
  const parsed = RestatementNote.safeParse(text)
  if (parsed.success) return parsed.data
  throw new CliError(`${option} ${parsed.error.issues.map(({ message }) => message).join('; ')}`)
}
