import { z } from 'zod'
import { list, tagged, typed } from '../combinators.ts'
import { CacheControl } from '../request-parts/cache-control.ts'
import { Citation } from './citations.ts'

/* Content blocks of messages and tool results. Their shapes are those of the public API. */

export const TextBlock = typed('text', {
  text: z.string(),
  citations: list(Citation).nullable().optional(),
  cache_control: CacheControl.optional(),
})

const Base64Image = typed('base64', {
  media_type: z.enum(['image/jpeg', 'image/png', 'image/gif', 'image/webp']),
  data: z.string(),
})

const UrlSource = typed('url', { url: z.string() })

export const ImageBlock = typed('image', {
  source: tagged('type', [Base64Image, UrlSource]),
  cache_control: CacheControl.optional(),
})

const Base64Pdf = typed('base64', {
  media_type: z.literal('application/pdf'),
  data: z.string(),
})

const PlainText = typed('text', {
  media_type: z.literal('text/plain'),
  data: z.string(),
})

const BlocksSource = typed('content', {
  content: z.union([z.string(), list(tagged('type', [TextBlock, ImageBlock]))]),
})

const FileSource = typed('file', { file_id: z.string() })

const CitationsSwitch = z.looseObject({ enabled: z.boolean().optional() })

export const DocumentBlock = typed('document', {
  source: tagged('type', [Base64Pdf, PlainText, BlocksSource, UrlSource, FileSource]),
  title: z.string().nullable().optional(),
  context: z.string().nullable().optional(),
  citations: CitationsSwitch.nullable().optional(),
  cache_control: CacheControl.optional(),
})

export const SearchResultBlock = typed('search_result', {
  source: z.string(),
  title: z.string(),
  content: list(TextBlock),
  citations: CitationsSwitch.optional(),
  cache_control: CacheControl.optional(),
})
