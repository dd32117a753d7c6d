/** What a sources file may say of customers, and what is wrong with the rest of it. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readSources } from '../../pipeline/raw/sources.ts'
import { temporaryFolder } from '../support/folder.ts'

/** The faults of a sources file, or none. */
async function faultsOf(sources: readonly object[], top: object = {}): Promise<string> {
  const path = join(await temporaryFolder(), 'sources.json')
  const all = sources.map((source, n) => ({
    name: `s${n}`,
    schema: 'canonical',
    files: ['a'],
    visibility: 'public',
    ...source,
  }))
  await writeFile(path, JSON.stringify({ ...(all.length > 0 && { sources: all }), ...top }, undefined, 1))
  return readSources(path).then(() => '', String)
}

const EXEMPT = { contributors: 'exempt', note: 'Our own account.' }
const ENGINE = { engine: { rollup_files: ['sums.csv'], visibility: 'public' } }

it.each([
  [{ contributors: 'keys', columns: { contributor: 'customer' } }, 'cannot be "keys" if "columns" names a column'],
  [{ contributors: 'exempt' }, 'note: is missing'],
  [{ note: 'Our own.' }, 'goes with "contributors": "exempt" only'],
  [{ contributors: 'keys', schema: 'langfuse-api' }, 'only canonical and litellm-spend-logs have API keys'],
])('refuses %j', async (source, fault) => {
  expect(await faultsOf([source])).toContain(fault)
})

it.each([
  [{ min_contributors: 0 }, 'disclosure.min_contributors: must be at least 1, not 0'],
  [{ p_percent: 101 }, 'disclosure.p_percent: must be at most 100, not 101'],
  [{ publish_after_days: -1 }, 'disclosure.publish_after_days: must be at least 0, not -1'],
  [{ p_percnt: 10 }, 'unknown key "p_percnt", did you mean "p_percent"?'],
  [{ revise: 'safe' }, 'disclosure.revise: must be never, not "safe"'],
  ['non', 'disclosure: must be "none" or a rule such as'],
])('refuses the rule %j', async (disclosure, fault) => {
  expect(await faultsOf([{}], { disclosure })).toContain(fault)
})

it('asks each source whose usage it is if there is a rule, and names all with their lines', async () => {
  const none = { schema: 'openai-usage' }
  const said = [{}, { schema: 'openai-usage', ...EXEMPT }, { contributors: 'keys' }]
  const named = { schema: 'bedrock-invocations', columns: { contributor: 'requestMetadata.tenant' } }
  expect(await faultsOf([...said, named], { disclosure: {} })).toBe('')
  expect(await faultsOf([none, ...said], { disclosure: 'none' })).toBe('')
  const faults = await faultsOf([none, ...said, none], { disclosure: {} })
  expect(faults.match(/json:\d+: sources\[[04]\]: does not say whose usage it is/g)).toHaveLength(2)
})

it('refuses a rule for sums, which nobody can protect', async () => {
  expect(await faultsOf([], { ...ENGINE, disclosure: {} })).toContain(
    'disclosure: cannot be a rule with "rollup_files"',
  )
  expect(await faultsOf([], { ...ENGINE, disclosure: 'none' })).toBe('')
})
