import { DatasheetAnswers, Publisher } from '../contract/manifest.ts'
import { publisherProblem } from '../release/publisher.ts'
import { askYesOrNo } from './init-questions.ts'
import type { Interview } from './interview.ts'

const OPTIONAL = { flag: '', isOptional: true } as const

/** Asks for facts that only the publisher knows and a reviewer needs. What is skipped stays missing, and the datasheet says so. */
export async function askDatasheet(publisher: Publisher, interview: Interview): Promise<Publisher> {
  const text =
    'A datasheet says who is counted and how the dataset is kept. Answer its questions now? (Enter skips one)'
  if (!(await askYesOrNo(interview, { ...OPTIONAL, text, fallback: 'no' }))) return publisher
  const answers: Partial<Record<keyof DatasheetAnswers, string>> = {}
  for (const [key, { description }] of Object.entries(DatasheetAnswers.shape)) {
    const answer = await askOptional(interview, description)
    if (answer !== '') answers[key as keyof DatasheetAnswers] = answer
  }
  const ror = await askOptional(interview, Publisher.shape.ror.description, (answer) => {
    const wrong = answer === '' ? undefined : publisherProblem({ ...publisher, ror: answer }, 'ror')
    return wrong && `${wrong}, or empty`
  })
  return {
    ...publisher,
    ...(ror !== '' && { ror }),
    ...(Object.keys(answers).length > 0 && { datasheet: answers }),
  }
}

function askOptional(
  interview: Interview,
  description = '',
  problem?: (answer: string) => string | undefined,
): Promise<string> {
  const text = description.replace(/\.$/, '')
  return interview.ask({ ...OPTIONAL, text, fallback: '', example: '', ...(problem && { problem }) })
}
