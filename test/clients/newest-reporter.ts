/** Prints, at the end of `make test-clients ARGS=--newest`, which versions were tested in place of the pinned ones. */
import type { Reporter, TestModule } from 'vitest/node'
import { markdownTable } from '../../pipeline/base/markdown.ts'
import { clearNotes, type Note, readNotes } from './newest.ts'

const STATES = ['passed', 'failed', 'skipped'] as const

export default class NewestReporter implements Reporter {
  async onTestRunStart(): Promise<void> {
    await clearNotes()
  }

  async onTestRunEnd(modules: readonly TestModule[]): Promise<void> {
    const tests = modules.flatMap((module) => [...module.children.allTests()])
    const usesOf = Map.groupBy(await readNotes(), ({ name, pinned, newest }) => [name, pinned, newest].join('\n'))
    const rows = [...usesOf].toSorted().map(([key, notes]) => {
      const used = tests.filter((test) => notes.some((note) => isOf(note, test.module.moduleId, test.fullName)))
      return [...key.split('\n'), ...STATES.map((state) => used.filter((test) => test.result().state === state).length)]
    })
    const table = markdownTable(
      ['package', 'pinned', 'tested', ...STATES],
      rows.map((row) => row.map(String)),
    )
    process.stdout.write(
      `\nThe newest versions in place of the pinned ones, and the tests that used them:\n\n${table}\n`,
    )
  }
}

function isOf({ file, test }: Note, moduleId: string, fullName: string): boolean {
  return file === moduleId && (test === undefined || test === fullName)
}
