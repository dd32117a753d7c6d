import { totalmem } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { defaultMemoryLimit, readPipelineConfig } from '../../pipeline/base/config.ts'
import { Database } from '../../pipeline/base/database.ts'
import { CliError } from '../../pipeline/base/errors.ts'
import { newWorkspace } from '../support/pipeline.ts'

const GIB = 2 ** 30
const UNLIMITED = 2 ** 64

/** Fails with the limit of DuckDB if it is another one. */
const ASSERT_LIMIT = `SELECT if(current_setting('memory_limit') = $expected, '', error(current_setting('memory_limit')))`

describe('MEMORY_LIMIT', () => {
  it.each([
    ['of the machine where no control group is known', 10 * GIB, 0, '6144MiB'],
    ['of the machine where its control group sets no limit', 10 * GIB, UNLIMITED, '6144MiB'],
    ['of the control group where that is less', 10 * GIB, 5 * GIB, '3072MiB'],
    ['of the machine where the control group would allow more', 5 * GIB, 10 * GIB, '3072MiB'],
    ['cut to whole MiB', 1_000_000_000, 0, '572MiB'],
  ])('is by default 60 %% %s', (_, machine, constrained, expected) => {
    expect(defaultMemoryLimit(machine, constrained)).toBe(expected)
  })

  it('is that of this machine unless it is set', () => {
    expect(readPipelineConfig({}).memoryLimit).toBe(defaultMemoryLimit(totalmem(), process.constrainedMemory()))
    expect(readPipelineConfig({ MEMORY_LIMIT: '512MiB' }).memoryLimit).toBe('512MiB')
  })

  it.each(['lots', '512', '-1GB', '60%'])('is refused as %s', (MEMORY_LIMIT) => {
    expect(() => readPipelineConfig({ MEMORY_LIMIT })).toThrow(CliError)
  })

  it('is the limit of DuckDB', async () => {
    const { root } = await newWorkspace()
    const memoryLimit = defaultMemoryLimit(10 * GIB, 0)
    const { signal } = new AbortController()
    const options = { path: join(root, 'limit.duckdb'), temporaryFolder: join(root, 'spill'), memoryLimit, signal }
    const database = await Database.open(options)
    try {
      await database.execute(ASSERT_LIMIT, { expected: '6.0 GiB' })
      await expect(database.execute(ASSERT_LIMIT, { expected: '8.0 GiB' })).rejects.toThrow('6.0 GiB')
    } finally {
      database.close()
    }
  })
})
