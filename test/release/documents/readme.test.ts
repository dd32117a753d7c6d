import { expect, it } from 'vitest'
import { describeDataset } from '../../../pipeline/release/documents/describe.ts'
import { renderReadme } from '../../../pipeline/release/documents/readme.ts'
import { manifestOf, PUBLISHER } from '../../support/manifest.ts'

it('the README has no heading from the words of the publisher', () => {
  const trap = (text: string) => `\n# ${text}\r\n\n## Motivation\n`
  const { name, title, contact, description } = PUBLISHER
  const publisher = { ...PUBLISHER, name: trap(name), title: trap(title), contact: trap(contact) }
  const manifest = manifestOf({ publisher: { ...publisher, description: trap(description) } })
  const trapped = renderReadme({ ...describeDataset(manifest), attribution: trap('Acme') })
  const headings = (text: string) => text.split(/[\r\n]+/).filter((line) => line.startsWith('#'))
  expect(headings(trapped).slice(1)).toEqual(headings(renderReadme(describeDataset(manifestOf()))).slice(1))
})
