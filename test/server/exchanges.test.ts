/** What the server answers, exchange by exchange: see `test/support/exchanges.ts`. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { converse, readConversations, writeConversations } from '../support/exchanges.ts'

const FOLDER = join(import.meta.dirname, 'exchanges')
const { RECORD } = process.env

describe.each(readdirSync(FOLDER).map((file) => file.replace('.http', '')))('%s', (operation) => {
  const path = join(FOLDER, `${operation}.http`)
  const { preamble, conversations } = readConversations(readFileSync(path, 'utf8'))

  for (const conversation of conversations) {
    test(conversation.title, async () => {
      const lines = await converse(conversation.lines)
      if (RECORD === undefined) expect(lines.join('\n')).toBe(conversation.lines.join('\n'))
      conversation.lines = lines
    })
  }

  afterAll(() => {
    if (RECORD !== undefined) writeFileSync(path, writeConversations(preamble, conversations))
  })
})
