/** The table of stored keys in docs/api.md says what the three kinds of requests store. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { CHAT_CONFIG_KEYS, RESPONSES_CONFIG_KEYS } from '../../../server/schemas/completion-requests.ts'
import { CONFIG_KEYS } from '../../../server/schemas/message-request.ts'
import { REPOSITORY } from '../../support/pipeline.ts'

const page = await readFile(join(REPOSITORY, 'docs/api.md'), 'utf8')

function keysOf(request: string): string[] {
  const row = page.split('\n').find((line) => line.startsWith(`| ${request} | \``)) ?? ''
  const [, keys = ''] = row.split(' | ')
  return Array.from(keys.matchAll(/`(\w+)`/g), ([, key = '']) => key)
}

test.each([
  ['`messages`', CONFIG_KEYS],
  ['`chat/completions`', CHAT_CONFIG_KEYS],
  ['`responses`', RESPONSES_CONFIG_KEYS],
])('%s', (request, stored) => {
  expect([...keysOf('all three'), ...keysOf(request)].toSorted()).toEqual(stored.toSorted())
})
