import './copy.ts'
import { counted } from '../../base/numbers.ts'
import { byId, make } from './explore/dom.ts'
import { save } from './explore/downloads.ts'
import { currentSource, type Source, sourceOf } from './explore/source.ts'
import { GoneError } from './explore/tables.ts'
import { fromHash, toHash } from './sql/address.ts'
import { answerView } from './sql/answer-view.ts'
import { type SqlDatabase, startDatabase } from './sql/database.ts'
import { StoppedError } from './sql/worker.ts'

/**
 * What DuckDB says of a query. After any other error it may not work any more, and is started again: after a fatal or
 * internal one, and in a transaction that failed, every later query fails too.
 */
const QUERY_ERROR = /^(?!FATAL|INTERNAL|TransactionContext)[A-Z][\w ]* Error: /

const page = byId('console', HTMLDivElement)
const field = byId('question', HTMLTextAreaElement)
const [run, stop] = [byId('run', HTMLButtonElement), byId('stop', HTMLButtonElement)]
const progress = byId('progress', HTMLProgressElement)
const fault = byId('fault', HTMLDivElement)
const answers = answerView()
const { release } = fromHash(location.hash)
let { misnamed } = fromHash(location.hash)

const { worker = '', wasm = '' } = page.dataset
const engine = { worker, wasm }

let source: Source | undefined
let database: SqlDatabase | undefined
let asking = Promise.resolve()

async function openSource(): Promise<Source> {
  const current = currentSource(page)
  return release === undefined ? current : sourceOf(release, current)
}

function report(what: string, share?: number): void {
  const note = `${JSON.stringify(misnamed)} is not the name of a release. The answers are from the current release.`
  byId('status', HTMLParagraphElement).textContent = misnamed === undefined ? what : `${what} ${note}`.trim()
  progress.hidden = share === undefined
  progress.value = share ?? 0
}

function setBusy(isBusy: boolean): void {
  run.disabled = isBusy
  stop.disabled = !isBusy
  byId('download-csv', HTMLButtonElement).disabled = isBusy
}

/** Asks what the field has, unless a question is running. */
function ask(): void {
  if (!run.disabled && field.value.trim() !== '') asking = show(field.value)
}

/** Runs a question and shows its answer. */
async function show(question: string): Promise<void> {
  const hash = toHash({ question, release })
  if (location.hash !== hash) history.pushState(null, '', hash)
  setBusy(true)
  fault.replaceChildren()
  try {
    source ??= await openSource()
    database ??= startDatabase(engine, source, report)
    const started = performance.now()
    const answer = await database.ask(question)
    if (answer === undefined) answers.hide()
    else await answers.show(answer, database)
    const link = new URL(toHash({ question, release: source.release }), location.href)
    byId('share-link', HTMLElement).textContent = link.href
    const rows = answer === undefined ? '' : `: ${counted(answer.count, 'row')}`
    report(`Done in ${((performance.now() - started) / 1000).toFixed(1)} s${rows}.`)
  } catch (error) {
    answers.hide()
    report('')
    showFault(error)
  } finally {
    setBusy(false)
  }
}

function showFault(error: unknown): void {
  const message = error instanceof Error ? error.message : String(error)
  if (!QUERY_ERROR.test(message)) {
    database?.stop()
    database = undefined
  }
  if (error instanceof StoppedError) {
    report('Stopped. The next question starts DuckDB again, without tables that you created.')
  } else if (error instanceof GoneError) {
    const current = make('a', { href: location.pathname }, 'Ask the current one')
    fault.replaceChildren(make('p', {}, 'This release is not published. ', current, '.'))
  } else {
    fault.replaceChildren(make('pre', {}, message))
  }
}

async function download(): Promise<void> {
  if (database === undefined || source === undefined) return
  save(new Blob([await database.csv()], { type: 'text/csv' }), `${source.name}-${source.release}-answer.csv`)
}

/** Shows the question of the address, and runs it. That is safe: it can only reach this page's memory. */
async function followAddress(): Promise<void> {
  const asked = fromHash(location.hash)
  misnamed = asked.misnamed
  if (misnamed !== undefined) report('')
  if (asked.release !== release) location.reload()
  if (asked.release !== release || asked.question === '') return
  if (run.disabled) database?.stop()
  await asking
  // Meanwhile the address may have another question, which follows by itself.
  if (fromHash(location.hash).question !== asked.question) return
  field.value = asked.question
  ask()
}

function start(): void {
  if (typeof WebAssembly === 'undefined' || typeof DecompressionStream === 'undefined') {
    run.disabled = true
    report('This browser cannot run DuckDB: it lacks WebAssembly or DecompressionStream.')
    return
  }
  byId('ask', HTMLFormElement).addEventListener('submit', (event) => {
    event.preventDefault()
    ask()
  })
  field.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
    event.preventDefault()
    ask()
  })
  stop.addEventListener('click', () => database?.stop())
  byId('download-csv', HTMLButtonElement).addEventListener('click', () => void download().catch(showFault))
  byId('offered', HTMLUListElement).addEventListener('click', (event) => {
    if (!(event.target instanceof HTMLAnchorElement)) return
    event.preventDefault()
    if (run.disabled) return
    field.value = fromHash(event.target.hash).question
    byId('ask', HTMLFormElement).scrollIntoView()
    ask()
  })
  addEventListener('hashchange', () => void followAddress())
  if (release !== undefined) showRelease(release)
  void followAddress()
}

function showRelease(name: string): void {
  const note = byId('pinned', HTMLParagraphElement)
  const current = make('a', { href: location.pathname }, 'Ask the current release')
  note.replaceChildren(`This is release ${name}, which never changes. `, current)
  note.hidden = false
}

start()
