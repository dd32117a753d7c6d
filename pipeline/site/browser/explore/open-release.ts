import type { Grain, Window } from '../../chart/calendar.ts'
import { bySize } from '../../chart/rows.ts'
import { colorsOf, lastOf, type Memory, type Shown, show } from './frame.ts'
import { currentSource, type Source, sourceOf } from './source.ts'
import { type Tables, tables } from './tables.ts'
import { GRAINS, type Group, type View } from './view.ts'
import { grainFor, reachOf, resolveWindow } from './window.ts'

/** Names at the right of a wide chart and the axis take this much of its width. */
const BESIDE_THE_PLOT = { wide: 310, narrow: 70, narrowBelow: 640 }

/** A release whose days are read. */
export interface OpenRelease {
  source: Source
  reach: Window
  grains: readonly Grain[]
  /** All names of a group, the largest first. */
  namesOf(group: Group): readonly string[]
  grainOf(view: View, width: number): Grain
  /** Undefined if the table of the grain is not read yet. */
  show(view: View, grain: Grain, before: Shown | undefined): Shown | undefined
  load: Tables['load']
}

/** Opens the release that is asked for, or the current one, and reads its days. Throws `GoneError` if it is gone. */
export async function openRelease(page: HTMLElement, release: string | undefined): Promise<OpenRelease> {
  const current = currentSource(page)
  const source = release === undefined ? current : await sourceOf(release, current)
  const data = tables(source.files, source)
  await data.load('day')
  const days = data.rows('day') ?? []
  const reach = reachOf(days)
  const grains = GRAINS.filter((grain) => grain in source.files)
  const names = new Map<Group, readonly string[]>()
  const memory: Memory = { cells: lastOf(), entries: lastOf() }

  function namesOf(group: Group): readonly string[] {
    const known = names.get(group) ?? bySize(days, source.nameOf[group])
    names.set(group, known)
    return known
  }

  return {
    source,
    reach,
    grains,
    namesOf,
    load: data.load,
    grainOf(view, width) {
      if (view.by !== 'auto') return view.by
      const { wide, narrow, narrowBelow } = BESIDE_THE_PLOT
      const plot = width - (width < narrowBelow ? narrow : wide)
      return grainFor(resolveWindow(view.window, reach).window, plot, grains)
    },
    show(view, grain, before) {
      const rows = data.rows(grain)
      const kept = before?.view.of === view.of ? colorsOf(before.content) : new Map<string, number>()
      const { restated, nameOf } = source
      const provisionalFrom = data.provisionalFrom(grain)
      const known = { reach, grain, provisionalFrom, restated, nameOf, order: namesOf(view.of), kept }
      return rows && show(rows, view, known, memory)
    },
  }
}
