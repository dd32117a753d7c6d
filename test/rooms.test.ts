/** The rooms of docs/architecture.md against the folders and their imports. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readStatements } from '../pipeline/base/statements.ts'

const ROOT = join(import.meta.dirname, '..')
const CONTRACT = 'pipeline/contract'

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const sources = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', 'pipeline', 'server'], {
  cwd: ROOT,
})
  .toString()
  .split('\n')
  .filter((path) => path.endsWith('.ts'))

/** Each room of the table with the rooms that it may import. */
const rooms = new Map(
  [...read('docs/architecture.md').matchAll(/^\| `((pipeline|server)\/\w+)` \|.*\| ([\w, ]*?) ?\|$/gm)].map(
    ([, room = '', top, imports = '']) => [room, imports === '' ? [] : imports.split(', ').map(pathIn(top ?? ''))],
  ),
)

function pathIn(top: string): (name: string) => string {
  return (name) => (name === 'contract' ? CONTRACT : `${top}/${name}`)
}

/** The folder of a file, or the file itself if it is in no room. */
const roomOf = (path: string) => path.split('/').slice(0, 2).join('/')

function importsOf(path: string): string[] {
  const imports = [...read(path).matchAll(/from '(\.[^']+)'|import\('(\.[^']+)'\)/g)]
  const paths = imports.map((match) => join(path, '..', match[1] ?? match[2] ?? ''))
  return paths.filter((name) => /^(pipeline|server)\//.test(name))
}

describe('the rooms', () => {
  it('are the folders of the pipeline and the server', () => {
    const folders = new Set(sources.map(roomOf).filter((name) => !name.endsWith('.ts')))
    expect(new Set(rooms.keys())).toEqual(folders)
  })

  it('contain every source file except those that tie them together', () => {
    const loose = sources.filter((path) => path.split('/').length === 2)
    expect(loose).toEqual([
      'pipeline/build-summary.ts',
      'pipeline/build.ts',
      'pipeline/cli.ts',
      'pipeline/reproduce.ts',
      'server/app.ts',
      'server/main.ts',
    ])
  })

  it('import only rooms that the table allows', () => {
    for (const path of sources) {
      const room = roomOf(path)
      const allowed = rooms.get(room)
      if (allowed === undefined || allowed[0] === 'pipeline/everything') continue
      for (const imported of importsOf(path).map(roomOf)) {
        if (imported !== room) expect(allowed, `${path} imports ${imported}`).toContain(imported)
      }
    }
  })

  it('import single modules of date-fns, whose index takes half a second to load', () => {
    for (const path of sources) expect(read(path), path).not.toMatch(/from '(date-fns|@date-fns\/utc)'/)
  })

  it('run only their own SQL and that of rooms that the table allows', () => {
    const { files, byName } = readStatements(join(ROOT, 'pipeline'))
    const homes = new Map(files.map((path) => [basename(path, '.sql'), roomOf(path)]))
    expect(homes.size, 'files of statements with the same name').toBe(files.length)
    for (const path of sources) {
      const allowed = rooms.get(roomOf(path))
      if (allowed === undefined || allowed[0] === 'pipeline/everything') continue
      for (const [, name = ''] of read(path).matchAll(/'([\w.-]+\/\w+)'/g)) {
        const home = byName.has(name) ? homes.get(name.split('/')[0] ?? '') : undefined
        if (home !== undefined) expect([roomOf(path), ...allowed], `${path} runs ${name}`).toContain(home)
      }
    }
  })

  it('have no import cycle: each imports only rooms above it in the table', () => {
    const order = [...rooms.keys()]
    for (const [index, room] of order.entries()) {
      for (const name of rooms.get(room) ?? []) {
        if (name !== 'pipeline/everything') expect(order.slice(0, index), `${room} imports ${name}`).toContain(name)
      }
    }
  })

  it('each have a linter rule, except the one that may import everything', () => {
    const { overrides } = JSON.parse(read('biome.json')) as { overrides: { includes: string[] }[] }
    const ruled = overrides
      .flatMap(({ includes }) => includes)
      .filter((name) => /^(pipeline|server)\/\w+\/\*\*$/.test(name))
    for (const room of rooms.keys()) {
      if (room !== 'pipeline/commands') expect(ruled, room).toContain(`${room}/**`)
    }
  })

  it('let the server import only the contract, and only commands of the pipeline import the server', () => {
    for (const path of sources) {
      for (const imported of importsOf(path)) {
        if (path.startsWith('server/')) expect(imported, path).toMatch(/^(server|pipeline\/contract)\//)
        if (path.startsWith('pipeline/') && imported.startsWith('server/'))
          expect(path).toMatch(/^pipeline\/commands\//)
      }
    }
  })
})
