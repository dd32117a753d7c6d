import { parseXml, XmlElement } from '@rgrove/parse-xml'

/** An object as a listing has it. */
export interface ListedObject {
  key: string
  bytes: number
  /** Without its quotes. */
  etag: string
}

export interface ListingPage {
  objects: ListedObject[]
  /** Where the next page begins. Undefined for the last one. */
  next: string | undefined
}

/** A refusal of the service. Empty where it has no text, as answers to HEAD do not. */
export interface Refusal {
  code: string
  message: string
  region: string
}

/** Undefined for what is no page of ListObjectsV2. */
export function readListing(text: string): ListingPage | undefined {
  const root = rootOf(text)
  if (root?.name !== 'ListBucketResult') return undefined
  const keyOf = textIn(root, 'EncodingType') === 'url' ? decodeKey : (key: string) => key
  const objects = childrenOf(root, 'Contents').map((each) => ({
    key: keyOf(textIn(each, 'Key')),
    bytes: Number(textIn(each, 'Size')),
    etag: textIn(each, 'ETag').replaceAll('"', ''),
  }))
  const isLast = textIn(root, 'IsTruncated') !== 'true'
  return { objects, next: isLast ? undefined : textIn(root, 'NextContinuationToken') }
}

export function readRefusal(text: string): Refusal {
  const root = rootOf(text)
  if (root?.name !== 'Error') return { code: '', message: '', region: '' }
  return { code: textIn(root, 'Code'), message: textIn(root, 'Message'), region: textIn(root, 'Region') }
}

/** Some services write a space as a plus, others as %20. All write a plus as %2B. */
function decodeKey(key: string): string {
  return decodeURIComponent(key.replaceAll('+', ' '))
}

function rootOf(text: string): XmlElement | undefined {
  try {
    return parseXml(text).root ?? undefined
  } catch {
    return undefined
  }
}

function childrenOf(element: XmlElement, name: string): XmlElement[] {
  return element.children.filter((child): child is XmlElement => child instanceof XmlElement && child.name === name)
}

function textIn(element: XmlElement, name: string): string {
  return childrenOf(element, name)[0]?.text ?? ''
}
