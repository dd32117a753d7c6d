/**
 * A build that kills its own process as with `kill -9`: `node killed-build.ts MOMENT`, settings in the environment. A
 * moment is a step on the file system or a word to the log. Prints how many there were when it came to its end.
 */

import { readPipelineConfig } from '../../pipeline/base/config.ts'
import { build } from '../../pipeline/build.ts'
import { filesAfter } from './crash.ts'

const last = Number(process.argv[2])
let moments = 0

function nextMoment(): void {
  moments += 1
  if (moments >= last) process.kill(process.pid, 'SIGKILL')
}

await build(readPipelineConfig(), {
  now: () => new Date(),
  report: nextMoment,
  signal: new AbortController().signal,
  files: filesAfter(nextMoment),
})
process.stdout.write(`${moments}\n`)
