import { expect, it } from 'vitest'
import type { BuildEvent } from '../../pipeline/base/effects.ts'
import { HeldError } from '../../pipeline/base/errors.ts'
import { WAIT, waitForLock } from '../../pipeline/commands/running.ts'

/** Work whose lock is held for so many tries, and a clock that moves with the pauses. */
function held(tries: number) {
  let ms = 0
  let left = tries
  const said: BuildEvent[] = []
  const { signal } = new AbortController()
  const effects = { now: () => new Date(ms), report: (event: BuildEvent) => said.push(event), signal }
  const work = async () => {
    if (left-- > 0) throw new HeldError('another export is running')
    return 'done'
  }
  const pause = async (pauseMs: number) => {
    ms += pauseMs
  }
  return { said, wait: (waitMs: number) => waitForLock(waitMs, effects, work, pause) }
}

it('waits until the other command is done, and says so once', async () => {
  const { said, wait } = held(3)
  expect(await wait(3000)).toBe('done')
  expect(said).toEqual([{ kind: 'notice', message: 'another export is running; waiting until it is done' }])
})

it('fails when the time is over', async () => {
  await expect(held(3).wait(2000)).rejects.toThrow(
    'another export is running; try again when it is done: the time of --wait is over',
  )
})

it('does not wait unless asked, and says how to', async () => {
  const { said, wait } = held(1)
  await expect(wait(0)).rejects.toThrow('try again when it is done, or wait for it with --wait 10m')
  expect(said).toEqual([])
})

it('can be interrupted while it waits', async () => {
  const controller = new AbortController()
  const effects = { now: () => new Date(0), report: () => controller.abort(), signal: controller.signal }
  const waiting = waitForLock(1000, effects, async () => {
    throw new HeldError('held')
  })
  await expect(waiting).rejects.toMatchObject({ name: 'AbortError' })
})

it('--wait takes seconds, minutes and hours', () => {
  const [, , read] = WAIT
  expect(['0', '90s', '10m', '2h'].map(read)).toEqual([0, 90_000, 600_000, 7_200_000])
  for (const text of ['', '10', '1d', '-1m', '1.5h', 'm'])
    expect(() => read(text)).toThrow('--wait must be a number of seconds, minutes or hours')
})
