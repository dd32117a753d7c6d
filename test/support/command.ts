/** Commands of the CLI in the process of the test. */
import { vi } from 'vitest'

interface Command {
  parseAsync(words: readonly string[], options: { from: 'user' }): Promise<unknown>
}

export interface CommandResult {
  stdout: string
  stderr: string
  /** What it failed with. */
  error: unknown
}

/** Runs a command; returns what it wrote, even if it failed. */
export async function tryCommand(command: Command, words: readonly string[]): Promise<CommandResult> {
  const written = { stdout: '', stderr: '' }
  const spies = (['stdout', 'stderr'] as const).map((name) =>
    vi.spyOn(process[name], 'write').mockImplementation((chunk) => {
      written[name] += chunk
      return true
    }),
  )
  const error: unknown = await command.parseAsync(words, { from: 'user' }).then(
    () => undefined,
    (cause: unknown) => cause,
  )
  for (const spy of spies) spy.mockRestore()
  return { ...written, error }
}

/** Runs a command that must succeed. */
export async function runCommand(command: Command, words: readonly string[]): Promise<CommandResult> {
  const result = await tryCommand(command, words)
  if (result.error !== undefined) throw result.error
  return result
}
