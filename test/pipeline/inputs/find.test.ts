import { describe, expect, it } from 'vitest'
import { UsageError } from '../../../pipeline/errors.ts'
import { buildIn, newWorkspace, writeInput } from '../../support/pipeline.ts'

describe('the files of a source', () => {
  it.each([
    [
      's3://logs/gateway/*.csv',
      'copy what is new of it here first with aws s3 sync s3://logs/gateway/ raw/, and name the copies',
    ],
    ['https://example.org/a.csv', 'copy what is new of it here first, and name the copies'],
  ])('are no URLs such as %s', async (entry, message) => {
    const workspace = await newWorkspace()
    const source = { name: 'bucket', schema: 'canonical', files: [entry], visibility: 'public' }
    await writeInput(workspace, 'sources.json', { sources: [source] })
    const failed = buildIn(workspace)
    await expect(failed).rejects.toThrow(UsageError)
    await expect(failed).rejects.toThrow(message)
  })
})
