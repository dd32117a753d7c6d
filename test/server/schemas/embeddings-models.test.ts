import { describe, expect, test } from 'vitest'
import { CatalogueError, type CatalogueProblem, parseCatalogue } from '../../../server/schemas/embeddings-catalogue.ts'
import { EmbeddingsModel } from '../../../server/schemas/embeddings-model.ts'
import { someModel } from '../../support/embeddings-models.ts'

/** The type of every field in the specification's table; `?` after it marks those that may be null. */
const FIELDS = Object.entries({
  string: [
    ...['id', 'canonical_slug', 'name', 'description', 'links.details'],
    ...['architecture.modality', 'architecture.tokenizer'],
    ...['pricing.prompt', 'pricing.completion', 'pricing.image', 'pricing.request'],
  ],
  'string?': ['architecture.instruct_type', 'expiration_date', 'knowledge_cutoff'],
  integer: ['created', 'context_length', 'top_provider.context_length'],
  'integer?': ['top_provider.max_completion_tokens'],
  boolean: ['top_provider.is_moderated'],
  strings: ['architecture.input_modalities', 'architecture.output_modalities', 'supported_parameters'],
  'strings?': ['supported_voices'],
  object: ['architecture', 'pricing', 'top_provider', 'links'],
  'object?': ['default_parameters', 'per_request_limits'],
}).flatMap(([type, paths]) => paths.map((path) => [path, type] as const))

const WRONG_VALUES: Record<string, unknown[]> = {
  string: [1, true, ['text'], {}],
  integer: ['1', 1.5, -1, true, []],
  boolean: ['false', 0],
  strings: ['text', [1], [null], {}],
  object: ['text', 1, []],
}

/** A valid entry with `value` at `path`; without that key when `value` is undefined. */
function modelWith(path: string, value: unknown): EmbeddingsModel {
  const model = someModel()
  const keys = path.split('.')
  const last = keys.pop() ?? ''
  const owner = keys.reduce<Record<string, unknown>>((at, key) => at[key] as Record<string, unknown>, model)
  if (value === undefined) delete owner[last]
  else owner[last] = value
  return model
}

/** What `parseCatalogue` has against `value`. */
function problemsOf(value: unknown): CatalogueProblem[] {
  try {
    parseCatalogue(JSON.stringify(value))
    return []
  } catch (error) {
    if (error instanceof CatalogueError) return error.problems
    throw error
  }
}

const isAccepted = (path: string, value: unknown) => EmbeddingsModel.safeParse(modelWith(path, value)).success

describe('an entry', () => {
  test('has the sixteen fields of the specification', () => {
    const topLevel = FIELDS.map(([path]) => path).filter((path) => !path.includes('.'))
    expect(Object.keys(EmbeddingsModel.shape).toSorted()).toEqual(topLevel.toSorted())
    expect(topLevel).toHaveLength(16)
    expect(problemsOf([someModel()])).toEqual([])
  })

  test.each(FIELDS)('has %s (%s): refuses it when it is missing, null or of another type', (path, type) => {
    const { id, ...missing } = problemsOf([modelWith(path, undefined)])[0] ?? {}
    expect(missing).toEqual({ index: 0, path, message: 'is missing' })
    expect(id).toBe(path === 'id' ? undefined : 'acme/embed-1')
    const [ofNull] = problemsOf([modelWith(path, null)])
    if (type.endsWith('?')) expect(ofNull).toBeUndefined()
    else expect(ofNull?.message).toMatch(/^must be .*, not null$/)
    for (const value of WRONG_VALUES[type.replace('?', '')] ?? []) {
      const [wrong] = problemsOf([modelWith(path, value)])
      expect(wrong?.path.startsWith(path), `${path} ${JSON.stringify(value)}`).toBe(true)
      expect(wrong?.message).toMatch(/^must /)
    }
  })

  test('accepts a value for what may be null or empty, and refuses an empty text or a wrong part', () => {
    const accepted = {
      'architecture.instruct_type': 'chatml',
      'top_provider.max_completion_tokens': 32_000,
      supported_parameters: ['temperature'],
      supported_voices: ['alloy'],
      default_parameters: { temperature: null, top_p: 0.9, frequency_penalty: null },
      per_request_limits: { prompt_tokens: 1, completion_tokens: 2 },
      expiration_date: '2027-01-01',
      knowledge_cutoff: '2025-05',
    }
    for (const [path, value] of Object.entries(accepted)) expect(isAccepted(path, value), path).toBe(true)
    const wrong = { default_parameters: { temperature: 'warm' }, per_request_limits: { prompt_tokens: 1 } }
    const refused = { id: '', canonical_slug: '', name: '', ...wrong }
    for (const [path, value] of Object.entries(refused)) expect(isAccepted(path, value), path).toBe(false)
  })

  test.each(['prompt', 'completion', 'image', 'request'])('pricing.%s is a decimal number as text', (key) => {
    const right = ['0', '0.0', '1', '12.50', '0.000000005', '00.10', '123456789012345678901234567890.5']
    const wrong = ['', '-1', '+1', '.5', '1.', '1e-7', '5e-9', '0,5', ' 1', '1\n', '0x1', '$1', 'free', 'NaN', 0]
    for (const price of right) expect(isAccepted(`pricing.${key}`, price), price).toBe(true)
    for (const price of wrong) expect(isAccepted(`pricing.${key}`, price), String(price)).toBe(false)
  })

  test('decision: has created in seconds, and refuses milliseconds', () => {
    expect(isAccepted('created', 0)).toBe(true)
    expect(isAccepted('created', 4_102_444_800)).toBe(true)
    expect(problemsOf([modelWith('created', 1_761_857_455_000)])).toMatchObject([
      { path: 'created', message: 'must be a Unix time in seconds, not in milliseconds' },
    ])
  })

  test('has a path in links.details', () => {
    for (const path of ['/', '/api/v1/models/acme/embed-1:free/endpoints']) {
      expect(isAccepted('links.details', path), path).toBe(true)
    }
    for (const path of ['', 'models/x', 'https://example.org/x', '//example.org/x', '/with space']) {
      expect(isAccepted('links.details', path), path).toBe(false)
    }
  })

  test('may have further keys at every level', () => {
    const model = someModel({ hugging_face_id: 'Acme/Embed-1', benchmarks: [{ elo: 1 }] })
    Object.assign(model.pricing, { web_search: '0', discount: 0.1 })
    for (const part of [model.architecture, model.top_provider, model.links]) Object.assign(part, { more: null })
    expect(problemsOf([model])).toEqual([])
    expect(EmbeddingsModel.parse(model)).toEqual(model)
  })
})

describe('a catalogue', () => {
  test.each([
    [/^not JSON: /, ['', '[']],
    [/^neither an array of entries nor an object with such a "data"$/, ['{}', '{"data":{}}', 'null', '"text"']],
  ])('is refused with %s: %j', (message, texts) => {
    for (const text of texts) {
      expect(() => parseCatalogue(text), text).toThrow(CatalogueError)
      expect(() => parseCatalogue(text), text).toThrow(message)
    }
  })

  test('has entries that are objects', () => {
    for (const entry of [null, 1, 'acme/embed-1', []]) {
      expect(problemsOf([someModel(), entry])).toMatchObject([{ index: 1, path: '' }])
    }
  })

  test('refuses an id that occurs twice', () => {
    const [first, second] = [someModel({ id: 'a/a' }), someModel({ id: 'b/b' })]
    expect(problemsOf([first, second, first, first])).toEqual([
      { index: 2, id: 'a/a', path: 'id', message: 'is that of [0] too' },
      { index: 3, id: 'a/a', path: 'id', message: 'is that of [0] too' },
    ])
    expect(problemsOf([first, someModel({ id: 'A/A' })])).toEqual([])
  })
})
