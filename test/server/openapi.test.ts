import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type JsonSchema, SCHEMAS } from '../../server/api/openapi/components.ts'
import { openApiDocument } from '../../server/api/openapi/document.ts'
import { OPERATIONS } from '../../server/api/openapi/operations.ts'
import { ErrorEnvelope } from '../../server/schemas/error-envelope.ts'
import { testApp } from '../support/app.ts'
import { publish, sampleRows } from '../support/publish.ts'

const API = '/api/v1'
const document = openApiDocument()

test('the document equals openapi.golden.json', async () => {
  await expect(`${JSON.stringify(document, undefined, 2)}\n`).toMatchFileSnapshot('openapi.golden.json')
})

test('the interface is version 1.0.0, and v1 in its paths', () => {
  expect([document.info.version, document.servers]).toEqual(['1.0.0', [{ url: API }]])
})

test('deprecated is what the specification deprecates, and is_provisioning_key', () => {
  const all = Object.values(document.components.schemas).flatMap(everySchema)
  const properties = all.flatMap((schema) => Object.entries((schema.properties ?? {}) as Record<string, JsonSchema>))
  const names = new Set(properties.flatMap(([name, { deprecated }]) => (deprecated === true ? [name] : [])))
  expect([...names].toSorted()).toEqual(['cost_quality_tradeoff', 'is_provisioning_key', 'rate_limit', 'route'])
})

describe('the operations of the document', () => {
  test('are those of all routes, which validate by the schemas that they name', async () => {
    const { app } = await testApp()
    const routes = new Map<string, Record<string, unknown>>()
    app.addHook('onRoute', ({ method, url, schema = {} }) => {
      const path = url.slice(API.length).replaceAll(/:(\w+)/g, '{$1}')
      if (url.startsWith(API)) routes.set(`${[method].flat()[0]} ${path}`, { ...schema })
    })
    await app.ready()
    const documented = OPERATIONS.map(({ method, path }) => `${method.toUpperCase()} ${path}`)
    expect([...routes.keys()].toSorted()).toEqual(documented.toSorted())
    for (const { method, path, params, querystring, headers } of OPERATIONS) {
      const given = Object.entries({ params, querystring, headers }).filter(([, schema]) => schema !== undefined)
      const validated = routes.get(`${method.toUpperCase()} ${path}`) ?? {}
      expect(Object.keys(validated).toSorted(), path).toEqual(given.map(([part]) => part).toSorted())
      for (const [part, schema] of given) expect(validated[part], `${part} of ${path}`).toBe(schema)
    }
  })
})

describe('examples', () => {
  test.each(OPERATIONS)('of $operationId fit the schemas', ({ body, answer }) => {
    for (const { schema, example } of body === undefined ? [answer] : [body, answer]) {
      // Parsing drops what the schema does not know, so that an example with too much is found too.
      expect(SCHEMAS[schema].parse(example)).toEqual(example)
    }
  })

  test.each(Object.entries(document.components.responses))('of the error %s is the envelope', (_name, response) => {
    const { example } = response.content['application/json']
    expect(ErrorEnvelope.parse(example)).toEqual(example)
  })
})

describe('schemas', () => {
  const schemas = Object.entries(document.components.schemas)

  test('of components are named once, without twins for requests and answers', () => {
    const names = schemas.map(([name]) => name)
    const isTwin = (name: string) => /\d$/.test(name) && names.includes(name.replace(/\d+$/, ''))
    // A branch has its name by its tag.
    const isOutput = ({ properties = {} }: JsonSchema) =>
      Object.values(properties as Record<string, JsonSchema>).some(({ const: tag }) => /_output$/.test(String(tag)))
    const ofTags = schemas.filter(([, schema]) => isOutput(schema)).map(([name]) => name)
    const isTwinOfZod = (name: string) => /^__|(Input|Output)$/.test(name) && !ofTags.includes(name)
    expect(names.filter((name) => isTwinOfZod(name) || isTwin(name))).toEqual([])
    expect(new Set(schemas.map(([, schema]) => JSON.stringify(schema))).size).toBe(names.length)
  })

  test('of branches of unions have titles, and those of objects are components, so that generators make classes of them', () => {
    const all = Object.values(document.components.schemas).flatMap(everySchema)
    const branches = all.flatMap(({ anyOf = [], oneOf = [] }) => [...anyOf, ...oneOf] as JsonSchema[])
    expect(branches.length).toBeGreaterThan(100)
    expect(branches.filter(({ $ref, title }) => ($ref ?? title) === undefined)).toEqual([])
    expect(branches.filter(({ $ref, type }) => $ref === undefined && type === 'object')).toEqual([])
    for (const [name, { title }] of schemas) expect(title).toBe(name)
    const titles = all.flatMap(({ title = 'Null' }) => (title === 'Null' ? [] : title))
    expect(titles.filter((title, at) => titles.indexOf(title) < at)).toEqual([])
  })

  test('are never null alone, and say what the items of arrays are', () => {
    const all = Object.values(document.components.schemas).flatMap(everySchema)
    expect(all.filter(({ type, title }) => type === 'null' && title !== 'Null')).toEqual([])
    expect(all.filter(({ type, items }) => [type].flat().includes('array') && items === undefined)).toEqual([])
  })

  test('state what is answered 400', () => {
    const { MessageRequest } = document.components.schemas
    const parametersOf = (path: string) => document.paths[path]?.get?.parameters ?? []
    const patternOf = (path: string, wanted: string) => {
      const schema: JsonSchema | undefined = parametersOf(path).find(({ name }) => name === wanted)?.schema
      return new RegExp(schema?.pattern ?? '')
    }
    const endDate = patternOf('/datasets/rankings-daily', 'end_date')
    expect(['2024-12-31', '2025-01-01', '2030-12-31'].map((date) => endDate.test(date))).toEqual([false, true, true])
    const version = patternOf('/presets/{slug}/versions/{version}', 'version')
    expect(
      ['0', '01', '1', '999999999', '2147483647', '2147483648', '10000000000'].map((text) => version.test(text)),
    ).toEqual([...[false, false, true, true, true, false, false]])
    expect(MessageRequest?.not).toMatchObject({ required: ['models', 'fallbacks'] })
  })
})

describe('GET /openapi.json', () => {
  test('is the document, without a key and for any origin', async () => {
    const { app } = await testApp()
    const { statusCode, headers, body } = await app.inject('/openapi.json')
    expect([statusCode, body]).toEqual([200, JSON.stringify(document)])
    expect(headers).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'access-control-allow-origin': '*',
    })
  })

  test.each(['/openapi.json', '/docs'])('%s: 304 while its tag is current, HEAD as GET', async (url) => {
    const { app } = await testApp()
    const { headers, body } = await app.inject(url)
    const { etag, link } = headers
    expect(link).toBe((await app.inject('/.well-known/api-catalog')).headers.link)
    const again = await app.inject({ url, headers: { 'if-none-match': String(etag) } })
    expect([again.statusCode, again.body]).toEqual([304, ''])
    const head = await app.inject({ method: 'HEAD', url })
    expect([head.statusCode, head.body, head.headers.etag]).toEqual([200, '', etag])
    expect(head.headers['content-length']).toBe(String(Buffer.byteLength(body)))
  })
})

describe('GET /docs', () => {
  test('shows every operation and parameter, a request of it for a shell, and an answer', async () => {
    const { app } = await testApp()
    const { headers, body } = await app.inject('/docs')
    expect(headers['content-type']).toBe('text/html; charset=utf-8')
    for (const { operationId, path } of OPERATIONS) {
      expect(body).toContain(`<section id="${operationId}">`)
      expect(body).toContain(`<code>${path}</code>`)
    }
    for (const name of ['start_date', 'limit', 'x-session-id']) expect(body).toContain(`<code>${name}</code>`)
    const key = '\n  -H &quot;Authorization: Bearer $TOKENBOARD_KEY&quot;'
    expect(body.split(key)).toHaveLength(OPERATIONS.length + 1)
    const example = '$TOKENBOARD_URL/api/v1/presets/support-agent/messages'
    expect(body).toContain(`curl -sS &quot;${example}&quot; \\${key} \\\n  -X POST`)
    expect(body).toContain('2026-11-19,anthropic/claude-sonnet-4.5,612400987654\n')
  })

  test('has links only to sections that exist, loads nothing by itself, and may load the styles of the site alone', async () => {
    const { app } = await testApp()
    const { headers, body } = await app.inject('/docs')
    const ids = new Set([...body.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id))
    const targets = [...body.matchAll(/ href="#([^"]+)"/g)].map(([, id]) => id)
    expect(targets).toHaveLength(OPERATIONS.length)
    expect(targets.filter((target) => !ids.has(target))).toEqual([])
    expect(headers['content-security-policy']).toBe(
      "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    )
    expect(body).not.toMatch(/<(script|link|img|iframe|style|form)\b| (style|on\w+)=/)
  })

  test('is in the frame of the published site, with the contact of its publisher', async () => {
    const { app, publicDir } = await testApp()
    const bare = await app.inject('/docs')
    expect(bare.body).toContain('ask the operator of this server.')
    const links = '<link rel="stylesheet" href="/tokens/assets/site.css">\n<meta name="robots" content="noindex">\n'
    const page = `<head><title>Not found</title>\n${links}</head><header><a href="/tokens/index.html">A</a></header><main id="main">404</main>`
    await writeFile(join(publicDir, '404.html'), page)
    await publish(publicDir, sampleRows({ days: 1 }))
    await app.releases.check()
    const framed = await app.inject('/docs')
    expect(framed.headers.etag).not.toBe(bare.headers.etag)
    const head = '<head><title>Tokenboard API</title>\n<link rel="stylesheet" href="assets/site.css">\n</head>'
    expect(framed.body).toContain(`${head}<header><a href="index.html">A</a></header><main id="main">\n<h1>`)
    expect(framed.body).toContain('ask Example (data@example.org).')
  })

  test.each(['/docs/', '/docs/index.html'])('%s leads there, below any path', async (url) => {
    const { app } = await testApp()
    const { statusCode, headers } = await app.inject(url)
    expect([statusCode, headers.location]).toEqual([301, '../docs'])
  })
})

/** A schema with all schemas within it. */
function everySchema(schema: JsonSchema): JsonSchema[] {
  const { properties = {}, items, additionalProperties, anyOf = [], oneOf = [] } = schema
  const parts = [...Object.values(properties), items, additionalProperties, ...anyOf, ...oneOf]
  const schemas = parts.filter((part): part is JsonSchema => typeof part === 'object' && !Array.isArray(part))
  return [schema, ...schemas.flatMap(everySchema)]
}
