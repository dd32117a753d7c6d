import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { verify } from '../../pipeline/publication/verify.ts'
import { LICENSES_FILE } from '../../pipeline/site/bundle.ts'
import { SQL_TABLES } from '../../pipeline/site/sql/columns.ts'
import { ENGINE_PATHS } from '../../pipeline/site/sql/engine.ts'
import { readQuestions } from '../../pipeline/site/sql/questions.ts'
import { cachePolicy } from '../../server/published/cache-policy.ts'
import { publish, REPOSITORY } from '../support/pipeline.ts'
import { query, sqlText } from '../support/records.ts'

const PACKAGE = join(REPOSITORY, 'node_modules/@duckdb/duckdb-wasm')
const NO_REPORT = { signal: new AbortController().signal, report: () => {} }

test('the documentation asks questions of the page', async () => {
  const page = (name: string) => readFile(join(REPOSITORY, 'docs', name), 'utf8')
  const code = [...(await page('analyses.md')).matchAll(/^```sql\n(.*?)\n```$/gms)].map(([, sql]) => sql)
  const questions = readQuestions().map(({ sql }) => sql)
  for (const sql of code.slice(1, 4)) expect(questions).toContain(sql)
  expect(await page('researchers.md')).toContain(`\`\`\`sql\n${questions[1]}\n\`\`\``)
})

test('the console and its DuckDB are published: those of the package, cached forever, with licenses', async () => {
  const { workspace } = await publish([{ model_permaslug: 'a', prompt_tokens: '3' }])
  const read = (path: string) => readFile(join(workspace.publicDir, path))
  const page = String(await read('sql.html'))
  for (const path of Object.values(ENGINE_PATHS)) {
    expect(page).toContain(`"${path}"`)
    expect(cachePolicy(`/${path}`)).toContain('immutable')
  }
  const wasm = gunzipSync(await read(ENGINE_PATHS.wasm))
  expect(wasm.equals(await readFile(join(PACKAGE, 'dist/duckdb-eh.wasm')))).toBe(true)
  const worker = await readFile(join(PACKAGE, 'dist/duckdb-browser-eh.worker.js'))
  expect((await read(ENGINE_PATHS.worker)).subarray(-worker.length).equals(worker)).toBe(true)
  const { version } = JSON.parse(await readFile(join(PACKAGE, 'package.json'), 'utf8'))
  expect(String(await read(LICENSES_FILE))).toContain(`@duckdb/duckdb-wasm ${version}`)

  for (const [table, columns] of Object.entries(SQL_TABLES)) {
    const file = table === 'history' ? 'history.parquet' : `latest/rankings-${table}.parquet`
    const path = join(workspace.publicDir, 'datasets/rankings-daily/v1', file)
    const found = await query(`DESCRIBE FROM read_parquet(${sqlText(path)})`)
    expect(found.map(({ column_name, column_type }) => [column_name, column_type])).toEqual(columns)
  }

  // Another machine may compress otherwise.
  const place = join(workspace.publicDir, ENGINE_PATHS.wasm)
  await writeFile(place, gzipSync(wasm, { level: 1 }))
  await verify(workspace.publicDir, NO_REPORT)
  await writeFile(place, gzipSync('another'))
  await expect(verify(workspace.publicDir, NO_REPORT)).rejects.toThrow(ENGINE_PATHS.wasm)
})
