import { PROVISIONAL_DAYS } from '../../../contract/provisional-days.ts'
import { addDays, startOf } from '../../chart/calendar.ts'
import { GoneError, type TableFiles } from './tables.ts'
import { type NameOf, nameOfBy } from './view.ts'

/** A release, as the page or its own manifest describes it. */
export interface Source {
  name: string
  title: string
  release: string
  /** The address of the release's page at the publisher. */
  page: string
  /** Where its citation leads: the DOI of the current release, if it has one, or the page. */
  cited_at: string
  credit: string
  license: string
  files: TableFiles
  history: string
  /** Dates that changed after they were final. */
  restated: ReadonlySet<string>
  nameOf: NameOf
  /** The folder of the release. */
  folder: string
  isCurrent: boolean
}

/** What the page says about the current release. */
export function currentSource({ dataset }: HTMLElement): Source {
  const {
    credit = '',
    license = '',
    tables = '{}',
    restated = '[]',
    authors = '{}',
    history = '',
    name = '',
    title = '',
    release = '',
    page = '',
    citedAt = page,
  } = dataset
  const files: TableFiles = JSON.parse(tables)
  return {
    ...{ name, title, release, page, cited_at: citedAt, credit, license, files, history },
    restated: new Set(JSON.parse(restated)),
    nameOf: nameOfBy(new Map(Object.entries(JSON.parse(authors)))),
    folder: (files.day?.parquet ?? '').replace(/[^/]*$/, ''),
    isCurrent: true,
  }
}

interface ManifestFacts {
  attribution: string
  provisional_from: string
  as_of: string
  end_date: string
  tables?: unknown
}

/** Another release of the same dataset, by its manifest. Throws `GoneError` if it is not published. */
export async function sourceOf(release: string, current: Source): Promise<Source> {
  if (release === current.release) return current
  const moved = (path: string) => path.replace(current.release, release)
  const folder = moved(current.folder)
  const answer = await fetch(`${folder}manifest.json`)
  if (answer.status === 404 || answer.status === 410) throw new GoneError()
  if (!answer.ok) throw new Error(`${folder}manifest.json was answered with ${answer.status}`)
  const manifest: ManifestFacts = await answer.json()
  const first =
    [manifest.provisional_from, untilFinal(manifest.as_of), addDays(manifest.end_date, 1)].toSorted()[0] ?? ''
  const file = (grain: 'day' | 'week' | 'month', table: string) => {
    const provisional_from = grain === 'day' ? manifest.provisional_from : startOf(first, grain)
    return { table, parquet: `${folder}rankings-${table}.parquet`, provisional_from }
  }
  const periods = manifest.tables === undefined ? {} : { week: file('week', 'weekly'), month: file('month', 'monthly') }
  const files: TableFiles = { day: file('day', 'daily'), ...periods }
  const page = moved(current.page)
  const facts = { release, page, cited_at: page, credit: manifest.attribution, files, folder }
  return { ...current, ...facts, restated: new Set(), isCurrent: false }
}

function untilFinal(asOf: string): string {
  return addDays(asOf.slice(0, 10), -PROVISIONAL_DAYS)
}
