import { z } from 'zod'
import { tagged } from '../combinators.ts'

const CharLocation = z.looseObject({
  type: z.literal('char_location'),
  cited_text: z.string(),
  document_index: z.int(),
  document_title: z.string().nullable(),
  start_char_index: z.int(),
  end_char_index: z.int(),
})

const PageLocation = z.looseObject({
  type: z.literal('page_location'),
  cited_text: z.string(),
  document_index: z.int(),
  document_title: z.string().nullable(),
  start_page_number: z.int(),
  end_page_number: z.int(),
})

const ContentBlockLocation = z.looseObject({
  type: z.literal('content_block_location'),
  cited_text: z.string(),
  document_index: z.int(),
  document_title: z.string().nullable(),
  start_block_index: z.int(),
  end_block_index: z.int(),
})

const WebSearchResultLocation = z.looseObject({
  type: z.literal('web_search_result_location'),
  cited_text: z.string(),
  encrypted_index: z.string(),
  title: z.string().nullable(),
  url: z.string(),
})

const SearchResultLocation = z.looseObject({
  type: z.literal('search_result_location'),
  cited_text: z.string(),
  search_result_index: z.int(),
  source: z.string(),
  title: z.string().nullable(),
  start_block_index: z.int(),
  end_block_index: z.int(),
})

/** The source of a text block (reference, `AnthropicCitation…LocationParam`). */
export const Citation = tagged('type', [
  CharLocation,
  PageLocation,
  ContentBlockLocation,
  WebSearchResultLocation,
  SearchResultLocation,
])
