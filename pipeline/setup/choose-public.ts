import { CliError } from '../base/errors.ts'
import { nearest } from '../contract/nearest.ts'
import { matches } from '../dataset/choose-models.ts'

/**
 * The public ones of some models. `all`: all but those that look private. Other words are names, or patterns in which `*`
 * stands for any text. Throws `CliError` for a word that no model has.
 */
export function choosePublic(
  models: readonly { model: string; why: string | undefined }[],
  { open, closed }: { open: readonly string[]; closed: readonly string[] },
): Set<string> {
  const names = models.map(({ model }) => model)
  for (const word of [...open, ...closed].filter((each) => each !== 'all' && each !== 'none')) checkWord(word, names)
  const isOpen = ({ model, why }: { model: string; why: string | undefined }) =>
    open.some((word) => (word === 'all' ? why === undefined : matches(word, model)))
  const isClosed = (model: string) => closed.some((word) => word === 'all' || matches(word, model))
  return new Set(models.filter((each) => isOpen(each) && !isClosed(each.model)).map(({ model }) => model))
}

function checkWord(word: string, names: readonly string[]): void {
  if (names.some((name) => matches(word, name))) return
  const meant = nearest(word, names)
  throw new CliError(
    `no model of the logs is called ${JSON.stringify(word)}${meant === undefined ? '' : `, did you mean ${JSON.stringify(meant)}?`}`,
  )
}
