import { type Caveat, type DatasetDescription, PROVISIONAL, SYNTHETIC_NOTICE, UNNAMED } from './describe.ts'

/** The vocabulary for responsible AI that these fields are from. */
export const RAI = 'http://mlcommons.org/croissant/RAI/1.0'

/** What the vocabulary asks and the pipeline knows. Nothing is said of what only the publisher could answer and did not. */
export function responsibleUse(dataset: DatasetDescription): Record<string, unknown> {
  const { disclosure, publisher, start_date, end_date, method, synthetic } = dataset
  const { consent, retention, notice, succession, selection } = publisher.datasheet ?? {}
  const { protection = UNPROTECTED, timing = '', reading = '' } = disclosure?.words ?? {}
  return {
    'rai:dataCollection': synthetic ? `${SYNTHETIC_NOTICE} ${COLLECTION}` : COLLECTION,
    'rai:dataCollectionType': 'Passive Data Collection',
    'rai:dataCollectionTimeFrame': [start_date, end_date],
    'rai:dataCollectionRawData': 'Usage records of the gateway. They are not part of this release.',
    'rai:dataCollectionMissingData': sentences(reading || UNNAMED, ABSENT),
    'rai:dataPreprocessingProtocol': method,
    'rai:dataUseCases': [USE, MISUSE],
    'rai:dataLimitations': limitationsOf(dataset).map(({ name, text }) => `${name}: ${text}`),
    'rai:dataBiases': sentences(BIAS, selection),
    'rai:personalSensitiveInformation': sentences(NO_PERSONS, protection, consent),
    'rai:dataReleaseMaintenancePlan': sentences(MAINTENANCE, timing || PROVISIONAL, retention, notice, succession),
  }
}

/** Disclosure control has a field of its own. */
function limitationsOf({ caveats, disclosure }: DatasetDescription): Caveat[] {
  return caveats.filter((caveat) => caveat !== disclosure?.caveat)
}

function sentences(...texts: (string | undefined)[]): string {
  return texts.filter((text) => text !== undefined && text !== '').join(' ')
}

/** Where the numbers come from. Sources may have sums instead of requests. */
const COLLECTION = 'From usage records of the gateway: logs of requests, or sums of them.'
const ABSENT = '`coverage.json` beside the releases lists the dates without rows, with the reason of each.'
const USE =
  'Shares of the named models, and trends of one model, on this gateway over time; rankings of models by date, week or month.'
const MISUSE =
  'Not for comparing amounts of text between providers, because tokenizers differ; not for numbers of requests or users; ' +
  'not for usage outside of this gateway.'
const BIAS = 'The dataset describes the users of one gateway, who are not a sample of all users of language models.'
const NO_PERSONS =
  'A row has a date, a model and a number of tokens. No row has a prompt, a response or a field about a person.'
const UNPROTECTED = 'Whether a number may be the usage of a single customer is not said.'
const MAINTENANCE =
  'A release never changes. A new one is made when dates or numbers change, and lists every row that differs from the ' +
  'previous one.'
