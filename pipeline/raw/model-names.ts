import type { Model } from './registry.ts'

/** Beginnings of names that providers give to models of their own, and the authors of some. */
const FAMILIES: readonly (readonly [beginning: RegExp, author?: string])[] = [
  [/^(gpt|chatgpt|o[1-9]|text-embedding|dall-e|whisper|tts|davinci|babbage|codex|sora|omni-moderation)\b/, 'openai'],
  [/^claude\b/, 'anthropic'],
  [/^(gemini|gemma|imagen|veo)\b/, 'google'],
  [/^(mi[sx]tral|codestral|ministral|magistral|devstral|pixtral|voxtral)\b/, 'mistralai'],
  [/^(command|embed|rerank|aya)\b/],
  [/^(llama|qwen|qwq|deepseek|grok|kimi|glm|minimax|phi|jamba|nova|titan|yi|ernie|hunyuan|doubao|sonar|hermes)/],
  [/^(nemotron|granite|dbrx|falcon|olmo|starcoder|wizardlm|mythomax|palmyra|reka|solar|step|mimo|seed|bge|jina)/],
]

/** Vendors in ids of Bedrock, such as `eu.anthropic.claude-…`. */
const VENDOR = /^(?:(?:us|eu|apac|ap|au|jp|ca|sa|us-gov|global)\.)?([a-z0-9]+)\.[a-z]/

/** Why a name looks like a model or deployment of a customer; undefined if it does not. */
export function looksPrivate(name: string): string | undefined {
  const plain = name.toLowerCase()
  if (/(^|[:/.])ft[:-]/.test(plain)) return 'a fine-tuned model'
  if (plain.startsWith('arn:')) return 'an ARN with an account'
  if (
    /^(projects|accounts|organizations|deployments|endpoints)\//.test(plain) &&
    !/^accounts\/fireworks\//.test(plain)
  ) {
    return 'a path with an account'
  }
  if (/^([a-z]:)?[\\/~.]|:\/\/|\\|@/.test(plain)) return 'a path, a URL or an address'
  if (/\b[0-9a-f]{8}-[0-9a-f]{4}-|\d{12}|\b[0-9a-f]{20,}\b/.test(plain)) return 'a name with an id'
  if (
    /(^|[-_./:])(prod|production|dev|staging|internal|customer|tenant|private|deploy(ment)?|finetuned?|custom)([-_./:]|$)/.test(
      plain,
    )
  ) {
    return 'a name of a deployment'
  }
  if (plain.includes('/') || VENDOR.test(plain) || familyOf(plain) !== undefined) return undefined
  return 'no known model: perhaps a deployment'
}

function familyOf(plain: string): (typeof FAMILIES)[number] | undefined {
  return FAMILIES.find(([beginning]) => beginning.test(plain))
}

/** The entry of a model for the registry. Its author and name are those that its slug has, where they are certain. */
export function entryOf(slug: string, isPublic: boolean): Omit<Model, 'aliases'> {
  const [, own] = /^([\w.-]+)\/[^/]+$/.exec(slug) ?? []
  const rest = own === undefined ? slug : slug.slice(own.length + 1)
  const [, vendor] = own === undefined ? (VENDOR.exec(slug) ?? []) : []
  const author = own ?? vendor ?? familyOf(slug)?.[1]
  const name = /^gpt-\d/.test(rest) ? `GPT${rest.slice('gpt'.length)}` : rest
  return { model_permaslug: slug, public: isPublic, ...(isPublic && { name, ...(author !== undefined && { author }) }) }
}
