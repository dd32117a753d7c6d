import { parseFlag } from '../base/json.ts'
import { RestatementNote } from '../contract/reason.ts'

/** Validates the text of an option such as `--note`. Throws `CliError` that names the option. */
export function readNote(option: string, text: string): string {
  return parseFlag(option, RestatementNote, text)
}
