import { expect, it } from 'vitest'
import { renderDictionary } from '../../../pipeline/release/documents/dictionary.ts'

it('is what docs/data-dictionary.md has', async () => {
  await expect(renderDictionary()).toMatchFileSnapshot('../../../docs/data-dictionary.md')
})
