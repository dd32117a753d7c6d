/**
 * Where the types of the newest official SDKs differ from those of the API. The table in docs/api.md is written by this
 * test (`-u`). Where there is no PyPI it is skipped and says so.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { SDK_METADATA } from '@openrouter/sdk'
import { expect, it } from 'vitest'
import { OPERATIONS } from '../../server/api/openapi/operations.ts'
import { conflicts, differencesTable } from '../sdk/differences.ts'
import { NEWEST_PYTHON_SDK, runPython } from '../sdk/python.ts'
import { npmTypes, ownTypes } from '../sdk/types.ts'

const PAGE = join(import.meta.dirname, '../../docs/api.md')

it('the newest SDKs read every answer, and docs/api.md has the differences of their types', async (context) => {
  const pypi = JSON.parse(await runPython(context, NEWEST_PYTHON_SDK, 'python_types.py'))
  const [own, npm] = [ownTypes(), npmTypes()]
  expect([...conflicts(own, npm), ...conflicts(own, pypi)]).toEqual([])
  const names = OPERATIONS.filter(({ operationId }) => operationId in npm).map(({ operationId, method, path }) => {
    return [operationId, `${method.toUpperCase()} ${path}`] as const
  })
  const sdks = { [`npm ${SDK_METADATA.sdkVersion}`]: npm, [`PyPI ${NEWEST_PYTHON_SDK.split('==')[1]}`]: pypi }
  const table = differencesTable(Object.fromEntries(names), own, sdks)
  const page = await readFile(PAGE, 'utf8')
  const made = page.replace(/(?<=<!-- differences -->\n).*?(?=<!-- end -->)/s, () => table)
  await expect(made).toMatchFileSnapshot(PAGE)
})
