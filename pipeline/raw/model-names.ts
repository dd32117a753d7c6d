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

const WORDS =
  'prod|production|dev|staging|internal|customer|tenant|private|deploy(ment)?|finetuned?|tunedmodels?|custom'
const HOST =
  'localhost|(\\d{1,3}\\.){3}\\d{1,3}|([\\w-]+\\.)+(local|internal|corp|lan)|([\\w-]+\\.){2,}(com|net|org|io|ai|dev|cloud|app)'

/** Forms of names that tell an account, a customer or a machine. */
const PRIVATE_FORMS: readonly (readonly [form: RegExp, what: string])[] = [
  [/(^|[:/.])ft[:-]/, 'a fine-tuned model'],
  [/(^|\/)arn:([^:]*:){3}(?!aws:)[^:]/, 'an ARN with an account'],
  [/(^|\/)(projects|accounts(?!\/fireworks\/)|organizations|deployments|endpoints)\//, 'a path with an account'],
  [/^([a-z]:)?[\\/~.]|:\/\/|\\|@(?!(\d{3}|\d{8}|default|latest)(:|$)|[ch]f\/)/, 'a path, a URL or an address'],
  [new RegExp(`(^|/)(${HOST})(:\\d+)?(/|$)`), 'the name of a machine'],
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-|(?<![\d.])\d{12}|\b[0-9a-f]{20,}\b/, 'a name with an id'],
  [new RegExp(`(^|[-_./: ])(${WORDS})([-_./: ]|$)`), 'a name of a deployment'],
]

/** Why a name has the form of a private one; undefined if it has not. A build withholds such names. */
export function privateForm(name: string): string | undefined {
  const plain = name.normalize('NFKC').toLowerCase().replaceAll('%3a', ':').replaceAll('%2f', '/')
  return PRIVATE_FORMS.find(([form]) => form.test(plain))?.[1]
}

/** Why a name looks like a model or deployment of a customer; undefined if it does not. */
export function looksPrivate(name: string): string | undefined {
  const plain = name.toLowerCase()
  const form = privateForm(name)
  if (form !== undefined || plain.includes('/') || VENDOR.test(plain) || familyOf(plain) !== undefined) return form
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
