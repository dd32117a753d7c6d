/** What a release under a disclosure rule does not say about its records and raw files, and where it is kept. */
import { createHmac } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { Secret } from '../../pipeline/base/secret.ts'
import { releaseFolder, sha256 } from '../support/pipeline.ts'
import { newRuledGateway, RULE, type RuledGateway, SAFE } from '../support/ruled-gateway.ts'

const FIRST = '20250305T120000Z'

const readJson = async (path: string) => JSON.parse(await readFile(path, 'utf8'))

async function hashesOfRawFiles({ gateway }: RuledGateway): Promise<string[]> {
  const folder = dirname(gateway.path('any'))
  const names = await readdir(folder)
  return Promise.all(names.map(async (name) => sha256(await readFile(join(folder, name)))))
}

it('has salted hashes, bands and no warnings, and the publisher has what reproduces it', async () => {
  const gateway = await newRuledGateway()
  await gateway.rule(RULE, {}, { blocking: ['missing_date'], max_rejected_share: 1 })
  await gateway.deliver('2025-03-01', { 'v/big': SAFE })
  await gateway.deliver('2025-03-02', { 'v/solo': { anna: 7 } })
  await gateway.deliver('2025-03-03', { 'v/big': SAFE })
  await gateway.deliver('2031-01-01', { 'v/big': SAFE })
  await expect(gateway.build('2025-03-05')).rejects.toThrow('missing_date')
  await gateway.build('2025-03-05', { accept: ['missing_date'] })

  const folder = await releaseFolder(gateway.workspace)
  const quality = await readJson(join(folder, 'quality.json'))
  expect(Object.keys(quality)).toEqual(['dataset', 'release', 'as_of', 'synthetic', 'records', 'late_dates'])
  expect(JSON.stringify(quality.records)).not.toMatch(/\d{4}-\d\d|:\d/)
  const provenance = await readJson(join(folder, 'provenance.json'))
  expect(provenance).toMatchObject({ provenance_version: 3, inputs: { merkle_root: expect.any(String) } })
  expect(provenance.inputs).not.toHaveProperty('count')
  expect(provenance).not.toHaveProperty('last_credible_date')

  const kept = await readJson(join(gateway.workspace.dataDir, `provenance/${FIRST}.json`))
  expect(kept).toMatchObject({
    last_credible_date: expect.any(String),
    warnings: [{ check: 'missing_date', date: '2025-03-02' }],
  })
  const key = await new Secret(join(gateway.workspace.dataDir, 'disclosure/secret.key')).keyFor('inputs')
  const salted = (await hashesOfRawFiles(gateway)).map((hash) => createHmac('sha256', key).update(hash).digest('hex'))
  expect(kept.inputs.map(({ sha256 }: { sha256: string }) => sha256)).toEqual(salted.sort())

  // What was accepted once is not asked for again.
  await gateway.deliver('2025-03-04', { 'v/big': SAFE })
  expect(await gateway.build('2025-03-06')).toHaveLength(3)
  await gateway.verify()
  expect(await gateway.reproduce('2025-03-05')).toMatchObject({ equal: true, left_out: [expect.any(String)] })
})
