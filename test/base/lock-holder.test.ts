import { mkdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { lockHolder } from '../../pipeline/base/lock-holder.ts'
import { temporaryFolder } from '../support/folder.ts'

/** A file, and a list of locks as Linux has it, in which a process holds it. */
async function locked({ access = 'WRITE', device = '', words = ['node', 'other.js'] } = {}) {
  const folder = await temporaryFolder()
  const path = join(folder, 'build.duckdb')
  await writeFile(path, '')
  const { ino, dev } = await stat(path)
  const own = [(dev >> 8) & 0xfff, (dev & 0xff) | ((dev >> 12) & 0xfff00)]
  const place = device === '' ? own.map((part) => part.toString(16).padStart(2, '0')).join(':') : device
  await mkdir(join(folder, '77'))
  await writeFile(join(folder, '77/cmdline'), `${words.join('\0')}\0`)
  const locks = [
    `1: FLOCK  ADVISORY  WRITE 5 ${place}:${ino} 0 EOF`,
    `2: POSIX  ADVISORY  ${access} 77 ${place}:${ino} 0 EOF`,
  ]
  await writeFile(join(folder, 'locks'), `${locks.join('\n')}\n`)
  return { path, folder }
}

it.each([
  [
    'a command of ours',
    { words: ['node', '/opt/pipeline/cli.ts', 'export', 'copy'] },
    { command: 'export', process: 77 },
  ],
  ['another program', {}, { command: null, process: 77 }],
  [
    'one of ours, where the file system has a device of its own',
    { device: 'ff:fe', words: ['node', 'pipeline/cli.ts', 'build'] },
    { command: 'build', process: 77 },
  ],
  ['nobody, if a file of another device has the number', { device: 'ff:fe' }, null],
  ['nobody, if it is only read', { access: 'READ' }, null],
])('says who holds a lock: %s', async (_, lock, holder) => {
  const { path, folder } = await locked(lock)
  expect(await lockHolder(path, folder)).toEqual(holder)
})

it('knows that nobody holds a file that does not exist', async () => {
  const { folder } = await locked()
  expect(await lockHolder(join(folder, 'nowhere'), folder)).toBeNull()
})

it('does not guess on a system that has no list of locks', async () => {
  const { path } = await locked()
  expect(await lockHolder(path, '/nowhere')).toBeUndefined()
})
