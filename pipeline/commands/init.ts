import { Command, Option } from '@commander-js/extra-typings'
import { readPipelineConfig } from '../base/config.ts'
import { endProgress } from './reporter.ts'
import { withEffects } from './running.ts'

const collect = (word: string, words: readonly string[] = []): string[] => [...words, word]

export const init = new Command('init')
  .description(
    'Look at your raw logs, ask what only you know, write the configuration, and show the first release as a dry run.',
  )
  .argument('[path...]', 'raw files or folders; asked for without')
  .option('--model <name>', 'the model of records without one: NAME, or SOURCE=NAME; repeatable', collect)
  .option('--base-time <instant>', 'when relative times begin: INSTANT, or SOURCE=INSTANT; repeatable', collect)
  .option('--time-unit <unit>', 'of relative times: seconds or milliseconds, or SOURCE=UNIT; repeatable', collect)
  .option('--timezone <zone>', 'the time zone of times without an offset: ZONE, or SOURCE=ZONE; repeatable', collect)
  .option(
    '--public <models>',
    'which models are public: all, none, a name or a pattern; all leaves out those that look private; repeatable',
    collect,
  )
  .option('--private <models>', 'models that are private all the same: a name or a pattern; repeatable', collect)
  .option('--contributor <column>', 'the column that names the customer: COLUMN, or SOURCE=COLUMN; repeatable', collect)
  .option('--exempt <note>', 'why usage belongs to no customer: NOTE, or SOURCE=NOTE; repeatable', collect)
  .option('--keys', 'take API keys for customers where the records name none')
  .addOption(
    new Option('--disclosure <choice>', 'whether a rule protects customers').choices(['rule', 'none'] as const),
  )
  .option('--publisher-name <name>', 'who publishes')
  .option('--publisher-url <url>', 'where it will be published')
  .option('--contact <contact>', 'an address for mail, or a page')
  .option('--accept-rejected', 'publish although whole raw files, or more than 1 % of the records, cannot be read')
  .option('--all-logged', 'logs that may be a sample have all requests (Vertex AI)')
  .option('--anyway', 'write the files although nothing may be published yet')
  .option('--force', 'overwrite the files that are there')
  .option('--yes', 'ask nothing: take the defaults')
  .option('--json', 'print what was found and done as one JSON object on stdout')
  .addHelpText(
    'after',
    `
This writes SOURCES (DATA_DIR/sources.json), models.json beside it and DATA_DIR/publisher.json, all or none. It
publishes nothing: make build does.

Settings (environment): SOURCES, DATA_DIR, PUBLIC_DIR, AS_OF, MEMORY_LIMIT.`,
  )
  .action(async (paths, options) => {
    const write = (text: string) => {
      endProgress(process.stderr)
      process.stderr.write(text)
    }
    const config = readPipelineConfig()
    const { NO_OPTIONS, runInit } = await import('./run-init.ts')
    const given = { ...NO_OPTIONS, ...options }
    const done = await withEffects((effects) => runInit(paths, given, { config, effects, input: process.stdin, write }))
    if (!given.json) return
    const { asJson } = await import('./diagnosis.ts')
    process.stdout.write(`${asJson(done)}\n`)
  })
