import { z } from 'zod'
import { tagged, typed } from '../combinators.ts'

const IN_DOCUMENT = {
  cited_text: z.string(),
  document_index: z.int(),
  document_title: z.string().nullable(),
}

const CharLocation = typed('char_location', {
  ...IN_DOCUMENT,
  start_char_index: z.int(),
  end_char_index: z.int(),
})

const PageLocation = typed('page_location', {
  ...IN_DOCUMENT,
  start_page_number: z.int(),
  end_page_number: z.int(),
})

const ContentBlockLocation = typed('content_block_location', {
  ...IN_DOCUMENT,
  start_block_index: z.int(),
  end_block_index: z.int(),
})

const WebSearchResultLocation = typed('web_search_result_location', {
  cited_text: z.string(),
  encrypted_index: z.string(),
  title: z.string().nullable(),
  url: z.string(),
})

const SearchResultLocation = typed('search_result_location', {
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
