/** The linters that others use find nothing in `/openapi.json` by their recommended rules, not even warnings and hints. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, inject, test } from 'vitest'
import { openApiDocument } from '../../server/api/openapi/document.ts'
import { skipLoudly } from '../system/hosting.ts'
import { npmWith, runTool } from './tools.ts'

const REDOCLY = 'extends: [recommended-strict]\n'
const SPECTRAL = 'extends: spectral:oas\n'

const LINTERS = [
  { packages: ['@redocly/cli@2.77.0'], words: ['redocly', 'lint', 'openapi.json', '--config', 'redocly.yaml'] },
  {
    packages: ['@stoplight/spectral-cli@6.16.3'],
    words: ['spectral', 'lint', 'openapi.json', '--ruleset', 'spectral.yaml', '--fail-severity', 'hint'],
  },
]

test.for(LINTERS)('$packages.0 finds nothing', async ({ packages, words: [program = '', ...words] }, { skip }) => {
  const made = await npmWith(packages)
  if (!('folder' in made)) return skipLoudly(skip, made.reason)
  const folder = join(inject('runFolder'), program)
  await mkdir(folder)
  await writeFile(join(folder, 'openapi.json'), JSON.stringify(openApiDocument(), undefined, 2))
  await writeFile(join(folder, 'redocly.yaml'), REDOCLY)
  await writeFile(join(folder, 'spectral.yaml'), SPECTRAL)
  const { code, stdout, stderr } = await runTool(join(made.folder, 'node_modules/.bin', program), words, folder)
  expect(code, stdout + stderr).toBe(0)
})
