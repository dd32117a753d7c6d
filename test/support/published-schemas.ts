/** Whether answers of the server are as `/openapi.json` says. */
import { z } from 'zod'
import { openApiDocument } from '../../server/api/openapi/document.ts'
import type { WireAnswer } from './wire.ts'

const API = '/api/v1'
const { paths, components } = openApiDocument()
const schemas = new Map<string, z.ZodType>()

interface Documented {
  $ref?: string
  content?: Record<string, { schema: unknown }>
}

/** Says what is wrong with an answer. `undefined` if nothing is, or if the path is none of the document. */
export function faultOf(method: string, target: string, answer: WireAnswer): string | undefined {
  const path = Object.keys(paths).find((template) => {
    const pattern = template.replaceAll(/\{\w+\}/g, '[^/]*')
    return new RegExp(`^${API}${pattern}([?].*)?$`).test(target)
  })
  const operations = Object.entries(paths[path ?? ''] ?? {})
  // Each operation of a path says that other methods are 405.
  const isDocumented = ([name]: [string, unknown]) => name === method.toLowerCase() || answer.status === 405
  const [, operation] = operations.find(isDocumented) ?? []
  if (operation === undefined || answer.body.length === 0) return undefined
  const documented = (operation.responses as Record<string, Documented>)[answer.status]
  if (documented === undefined) return `${answer.status} is not documented`
  const { content = {} } = (resolve(documented) ?? {}) as Documented
  const [mediaType = ''] = (answer.headers['content-type'] ?? '').split(';')
  const media = content[mediaType]
  if (media === undefined) return `${mediaType} is not documented for ${answer.status}`
  const isReadable = mediaType === 'application/json' && answer.headers['content-encoding'] === undefined
  if (!isReadable) return undefined
  const { error } = schemaOf(media.schema).safeParse(JSON.parse(answer.body.toString('utf8')))
  return error && z.prettifyError(error)
}

function resolve({ $ref, ...documented }: Documented): Documented | undefined {
  const responses: Record<string, Documented> = components.responses
  return $ref === undefined ? documented : responses[$ref.split('/').at(-1) ?? '']
}

function schemaOf(schema: unknown): z.ZodType {
  const text = JSON.stringify(schema)
  const made = schemas.get(text) ?? z.fromJSONSchema(JSON.parse(withDefinitions(text)))
  schemas.set(text, made)
  return made
}

/** zod resolves references within a schema alone. */
function withDefinitions(schema: string): string {
  const whole = { ...JSON.parse(schema), $defs: components.schemas }
  return JSON.stringify(whole).replaceAll('#/components/schemas/', '#/$defs/')
}
