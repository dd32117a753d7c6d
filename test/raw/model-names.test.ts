/** Which names of models look like those of customers, and what the registry says of the others. */
import { describe, expect, it } from 'vitest'
import { entryOf, looksPrivate } from '../../pipeline/raw/model-names.ts'

const words = (text: string) => text.trim().split(/\s+/)

const PRIVATE = words(String.raw`
  ft:gpt-4o-2024-08-06:acme::x1 davinci:ft-acme-2023-05-01
  arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc
  bedrock/converse/arn:aws:bedrock:eu-west-1:123456789012:provisioned-model/abc
  projects/acme/locations/us/endpoints/12 vertex_ai/projects/acme/locations/us/endpoints/12
  tunedModels/acme-support openai/jo@acme.example openai/llm.acme.internal:8000/v1 vllm/10.0.0.7:8000
  gpu1.eu.acme.com FT:gpt-4o:acme::x1 ｆｔ:gpt-4o:acme::x1 ft%3Agpt-4o%3Aacme%3A%3Ax1 /home/jo/models/llama.gguf
  C:\Users\jo\llama.gguf https://acme.example/v1 gpt-4o@acme gpt-4o-prod acme/internal-large acme-chat router
  model-0f8fad5b-d9cb-469f-a165-70867728950e
`)
const PLAIN = words(`
  gpt-4.1-mini-2025-04-14 o3-mini claude-sonnet-4-5-20250929 eu.anthropic.claude-sonnet-4-5-20250929-v1:0
  amazon.nova-lite-v1:0 meta-llama/llama-3.3-70b-instruct:free servegen/m-large-client-61
  accounts/fireworks/models/qwen3 llama3.1:8b text-embedding-3-small
  arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-3 x.ai/grok-4 gpt-4:0613 claude-sonnet-4@20250514
  vertex_ai/claude-opus-4@default cloudflare/@cf/meta/llama-3
`)

describe('looksPrivate', () => {
  it.each(PRIVATE)('is true for %s', (name) => {
    expect(looksPrivate(name)).toBeDefined()
  })

  it.each(PLAIN)('is false for %s', (name) => {
    expect(looksPrivate(name)).toBeUndefined()
  })
})

it.each([
  ['openai/gpt-4o', 'GPT-4o', 'openai'],
  ['gpt-4.1-mini', 'GPT-4.1-mini', 'openai'],
  ['claude-opus-5', 'claude-opus-5', 'anthropic'],
  ['eu.anthropic.claude-opus-5-v1:0', 'eu.anthropic.claude-opus-5-v1:0', 'anthropic'],
  ['acme/large:free', 'large:free', 'acme'],
  ['llama3.1:8b', 'llama3.1:8b', undefined],
])('names %s', (slug, name, author) => {
  expect(entryOf(slug, true)).toEqual({ model_permaslug: slug, public: true, name, ...(author && { author }) })
  expect(entryOf(slug, false)).toEqual({ model_permaslug: slug, public: false })
})
