import { expect, test } from 'vitest'
import { renderReference } from './reference.ts'

test('docs/reference.md is what the code says; `make docs` writes it anew', async () => {
  await expect(renderReference()).toMatchFileSnapshot('../docs/reference.md')
})
