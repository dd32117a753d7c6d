import { expect, test } from 'vitest'
import { renderReference } from './reference.ts'

test('docs/reference.md matches the code; `make docs` writes it again', async () => {
  await expect(renderReference()).toMatchFileSnapshot('../docs/reference.md')
})
