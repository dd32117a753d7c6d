import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { DUCKDB_VERSION } from '../../pipeline/base/database.ts'
import { newWorkspace, runProcess } from '../support/pipeline.ts'

/** A proxy that answers 404, and the URLs that were requested. */
async function startProxy(): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    response.writeHead(404).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
}

describe('tokenboard httpfs', () => {
  it('downloads the extension of the installed DuckDB version, and fails with one line if it cannot', async () => {
    const { root } = await newWorkspace()
    const proxy = await startProxy()
    const { code, stdout, stderr } = await runProcess(['httpfs'], { HOME: root, HTTP_PROXY: proxy.url })
    expect(code).toBe(1)
    expect(stdout).toBe('')
    expect(stderr).toMatch(/^tokenboard: DuckDB's httpfs cannot be installed: .*HTTP 404.*\n$/)
    expect(proxy.asked).toEqual([expect.stringContaining(`/${DUCKDB_VERSION}/`)])
    expect(proxy.asked).toEqual([expect.stringMatching(/\/httpfs\.duckdb_extension\.gz$/)])
  })
})
