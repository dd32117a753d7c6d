import { describe, expect, test } from 'vitest'
import {
  anything,
  arrayOf,
  boolean,
  cacheControl,
  faultsOf,
  integer,
  nullable,
  object,
  oneOf,
  type Place,
  request,
  required,
  shape,
  special,
  string,
} from './rules.ts'

const BLOCKS = [
  'text',
  'image',
  'document',
  'tool_use',
  'tool_result',
  'thinking',
  'redacted_thinking',
  'server_tool_use',
  'web_search_tool_result',
  'search_result',
  'compaction',
  'advisor_tool_result',
  'tool_addition',
  'tool_removal',
  'openrouter_shell_tool_result',
  'openrouter_bash_tool_result',
]

const inMessage = (content: unknown) => request({ messages: [{ role: 'user', content }] })

function block(type: string): Place {
  return { in: (block) => inMessage([block]), path: 'messages[0].content[0]', branches: [type] }
}

/** An object below the key `key` of a block that has the other keys `rest`. */
function below(type: string, key: string, rest: object, branch?: string): Place {
  return {
    in: (value) => inMessage([{ type, ...rest, [key]: value }]),
    path: `messages[0].content[0].${key}`,
    branches: branch === undefined ? [type] : [type, branch],
  }
}

shape(
  'message',
  { in: (message) => request({ messages: [message] }), path: 'messages[0]' },
  { role: 'user', content: 'hello' },
  {
    role: required(oneOf('user', 'assistant', 'system')),
    content: special(
      'string or array of blocks',
      ['', [], [{ type: 'text', text: 'a' }]],
      [
        ...[null, 1, {}, true].map((value) => ({ value, message: 'must be a string or an array' })),
        { value: ['text'], message: 'must be an object', below: '[0]' },
      ],
      'is required',
    ),
    clear_at: anything,
    output_config: anything,
  },
)

describe('content block', () => {
  test('its type is one of the known kinds', () => {
    for (const type of ['other', 'TEXT', '', null, 1, {}]) {
      expect(faultsOf(inMessage([{ type }]))).toEqual([
        `messages[0].content[0].type must be one of ${BLOCKS.join(', ')}`,
      ])
    }
    expect(faultsOf(inMessage([{ text: 'a' }]))).toEqual([
      `messages[0].content[0].type is required and must be one of ${BLOCKS.join(', ')}`,
    ])
  })
})

shape(
  'block text',
  block('text'),
  { type: 'text', text: 'a' },
  {
    text: required(string),
    citations: nullable(arrayOf(special('citation', [{ ...charLocation() }], []))),
    cache_control: cacheControl,
  },
)

describe('citations of a text block, by type', () => {
  const place = (type: string): Place => ({
    in: (citation) => inMessage([{ type: 'text', text: 'a', citations: [citation] }]),
    path: 'messages[0].content[0].citations[0]',
    branches: ['text', type],
  })
  const document = { document_index: 0, document_title: null }
  const documentKeys = { document_index: required(integer), document_title: required(nullable(string)) }

  shape('char_location', place('char_location'), charLocation(), {
    cited_text: required(string),
    ...documentKeys,
    start_char_index: required(integer),
    end_char_index: required(integer),
  })
  shape(
    'page_location',
    place('page_location'),
    { type: 'page_location', cited_text: 'a', ...document, start_page_number: 1, end_page_number: 2 },
    {
      cited_text: required(string),
      ...documentKeys,
      start_page_number: required(integer),
      end_page_number: required(integer),
    },
  )
  shape(
    'content_block_location',
    place('content_block_location'),
    { type: 'content_block_location', cited_text: 'a', ...document, start_block_index: 1, end_block_index: 2 },
    {
      cited_text: required(string),
      ...documentKeys,
      start_block_index: required(integer),
      end_block_index: required(integer),
    },
  )
  shape(
    'web_search_result_location',
    place('web_search_result_location'),
    { type: 'web_search_result_location', cited_text: 'a', encrypted_index: 'e', title: null, url: 'u' },
    {
      cited_text: required(string),
      encrypted_index: required(string),
      title: required(nullable(string)),
      url: required(string),
    },
  )
  shape(
    'search_result_location',
    place('search_result_location'),
    {
      type: 'search_result_location',
      cited_text: 'a',
      search_result_index: 0,
      source: 's',
      title: null,
      start_block_index: 0,
      end_block_index: 1,
    },
    {
      cited_text: required(string),
      search_result_index: required(integer),
      source: required(string),
      title: required(nullable(string)),
      start_block_index: required(integer),
      end_block_index: required(integer),
    },
  )
  test('any other type is refused', () => {
    expect(faultsOf(place('').in({ type: 'other' }))).toEqual([
      'messages[0].content[0].citations[0].type must be one of char_location, page_location, content_block_location, web_search_result_location, search_result_location (text)',
    ])
  })
})

function charLocation() {
  return {
    type: 'char_location',
    cited_text: 'a',
    document_index: 0,
    document_title: null,
    start_char_index: 0,
    end_char_index: 1,
  }
}

const image = { type: 'image', source: { type: 'url', url: 'https://a' } }

shape('block image', block('image'), image, {
  source: required(
    special('image source', [{ type: 'url', url: 'https://a' }], [{ value: null, message: 'must be an object' }]),
  ),
  cache_control: cacheControl,
})

describe('sources of an image block, by type', () => {
  shape(
    'base64',
    below('image', 'source', {}, 'base64'),
    { type: 'base64', media_type: 'image/png', data: 'AA==' },
    {
      media_type: required(oneOf('image/jpeg', 'image/png', 'image/gif', 'image/webp')),
      data: required(string),
    },
  )
  shape('url', below('image', 'source', {}, 'url'), { type: 'url', url: 'https://a' }, { url: required(string) })
  test('any other type is refused', () => {
    expect(faultsOf(inMessage([{ type: 'image', source: { type: 'file' } }]))).toEqual([
      'messages[0].content[0].source.type must be one of base64, url (image)',
    ])
  })
})

const document = { type: 'document', source: { type: 'file', file_id: 'f' } }

shape('block document', block('document'), document, {
  source: required(
    special('document source', [{ type: 'file', file_id: 'f' }], [{ value: null, message: 'must be an object' }]),
  ),
  title: nullable(string),
  context: nullable(string),
  citations: nullable(object),
  cache_control: cacheControl,
})

describe('sources of a document block, by type', () => {
  const source = (type: string) => below('document', 'source', {}, type)
  shape(
    'base64',
    source('base64'),
    { type: 'base64', media_type: 'application/pdf', data: 'AA==' },
    {
      media_type: required(oneOf('application/pdf')),
      data: required(string),
    },
  )
  shape(
    'text',
    source('text'),
    { type: 'text', media_type: 'text/plain', data: 'a' },
    {
      media_type: required(oneOf('text/plain')),
      data: required(string),
    },
  )
  shape('url', source('url'), { type: 'url', url: 'https://a' }, { url: required(string) })
  shape('file', source('file'), { type: 'file', file_id: 'f' }, { file_id: required(string) })
  shape(
    'content',
    source('content'),
    { type: 'content', content: '' },
    {
      content: special(
        'string or array of text and image blocks',
        ['', [], [{ type: 'text', text: 'a' }, image]],
        [
          { value: null, message: 'must be a string or an array' },
          { value: [document], message: 'must be one of text, image', below: '[0].type' },
        ],
        'is required',
      ),
    },
  )
  shape(
    'citations',
    below('document', 'citations', { source: document.source }),
    {},
    { enabled: boolean },
    { besides: [null] },
  )
  test('any other type is refused', () => {
    expect(faultsOf(inMessage([{ type: 'document', source: { type: 'image' } }]))).toEqual([
      'messages[0].content[0].source.type must be one of base64, text, content, url, file (document)',
    ])
  })
})

const searchResult = { type: 'search_result', source: 's', title: 't', content: [] }

shape('block search_result', block('search_result'), searchResult, {
  source: required(string),
  title: required(string),
  content: required(
    special(
      'array of text blocks',
      [[], [{ type: 'text', text: 'a' }]],
      [
        { value: 'text', message: 'must be an array' },
        { value: [{ ...image, text: 'a' }], message: 'must be text', below: '[0].type' },
      ],
    ),
  ),
  citations: object,
  cache_control: cacheControl,
})

shape('citations of a search_result block', below('search_result', 'citations', searchResult), {}, { enabled: boolean })

shape(
  'block tool_use',
  block('tool_use'),
  { type: 'tool_use', id: 'i', name: 'n' },
  {
    id: required(string),
    name: required(string),
    input: anything,
    cache_control: cacheControl,
  },
)

shape(
  'block tool_result',
  block('tool_result'),
  { type: 'tool_result', tool_use_id: 'i' },
  {
    tool_use_id: required(string),
    content: special(
      'string or array of text, image, tool_reference, search_result and document blocks',
      [
        '',
        [],
        [{ type: 'text', text: 'a' }, image, { type: 'tool_reference', tool_name: 'n' }, searchResult, document],
      ],
      [
        ...[null, 1, {}].map((value) => ({ value, message: 'must be a string or an array' })),
        ...[
          { type: 'tool_use', id: 'i', name: 'n' },
          { type: 'tool_result', tool_use_id: 'i' },
        ].map((inner) => ({
          value: [inner],
          message: 'must be one of text, image, tool_reference, search_result, document',
          below: '[0].type',
        })),
      ],
    ),
    is_error: boolean,
    cache_control: cacheControl,
  },
)

shape(
  'tool_reference of a tool_result block',
  {
    in: (value) => inMessage([{ type: 'tool_result', tool_use_id: 'i', content: [value] }]),
    path: 'messages[0].content[0].content[0]',
    branches: ['tool_result', 'tool_reference'],
  },
  { type: 'tool_reference', tool_name: 'n' },
  { tool_name: required(string) },
)

shape(
  'block thinking',
  block('thinking'),
  { type: 'thinking', thinking: 't', signature: 's' },
  {
    thinking: required(string),
    signature: required(string),
  },
)

shape(
  'block redacted_thinking',
  block('redacted_thinking'),
  { type: 'redacted_thinking', data: 'd' },
  {
    data: required(string),
  },
)

shape(
  'block server_tool_use',
  block('server_tool_use'),
  { type: 'server_tool_use', id: 'i', name: 'n' },
  {
    id: required(string),
    name: required(string),
    input: anything,
    cache_control: cacheControl,
  },
)

shape(
  'block web_search_tool_result',
  block('web_search_tool_result'),
  { type: 'web_search_tool_result', tool_use_id: 'i', content: [] },
  {
    tool_use_id: required(string),
    content: special(
      'array of search results or an error',
      [[], [{ type: 'web_search_result', encrypted_content: 'e', title: 't', url: 'u' }]],
      [null, 'text', 1].map((value) => ({ value, message: 'must be an array or an object' })),
      'is required',
    ),
    cache_control: cacheControl,
  },
)

shape(
  'search result of a web_search_tool_result block',
  {
    in: (value) => inMessage([{ type: 'web_search_tool_result', tool_use_id: 'i', content: [value] }]),
    path: 'messages[0].content[0].content[0]',
    branches: ['web_search_tool_result'],
  },
  { type: 'web_search_result', encrypted_content: 'e', title: 't', url: 'u' },
  {
    type: oneOf('web_search_result'),
    encrypted_content: required(string),
    title: required(string),
    url: required(string),
    page_age: nullable(string),
  },
)

shape(
  'error of a web_search_tool_result block',
  below('web_search_tool_result', 'content', { tool_use_id: 'i' }),
  { type: 'web_search_tool_result_error', error_code: 'unavailable' },
  {
    type: oneOf('web_search_tool_result_error'),
    error_code: required(
      oneOf('invalid_tool_input', 'unavailable', 'max_uses_exceeded', 'too_many_requests', 'query_too_long'),
    ),
  },
  { besides: [[]] },
)

shape(
  'block compaction',
  block('compaction'),
  { type: 'compaction', content: null },
  {
    content: required(nullable(string)),
    encrypted_content: nullable(string),
    cache_control: cacheControl,
  },
)

describe.each(['advisor_tool_result', 'openrouter_shell_tool_result', 'openrouter_bash_tool_result'])(
  'block of a service tool',
  (type) => {
    shape(
      type,
      block(type),
      { type, tool_use_id: 'i', content: {} },
      {
        tool_use_id: required(string),
        content: required(object),
      },
    )
  },
)

describe.each(['tool_addition', 'tool_removal'])('block %s', (type) => {
  const tool = { type: 'tool_reference', name: 'n' }
  shape(
    type,
    block(type),
    { type, tool },
    {
      tool: required(special('reference', [tool], [{ value: null, message: 'must be an object' }])),
      cache_control: cacheControl,
    },
  )
  shape('tool_reference', below(type, 'tool', {}, 'tool_reference'), tool, { name: required(string) })
  shape(
    'mcp_tool_reference',
    below(type, 'tool', {}, 'mcp_tool_reference'),
    { type: 'mcp_tool_reference', name: 'n', server_name: 's' },
    { name: required(string), server_name: required(string) },
  )
  shape(
    'mcp_toolset_reference',
    below(type, 'tool', {}, 'mcp_toolset_reference'),
    { type: 'mcp_toolset_reference', server_name: 's' },
    { server_name: required(string) },
  )
  test('any other type is refused', () => {
    expect(faultsOf(inMessage([{ type, tool: { type: 'other' } }]))).toEqual([
      `messages[0].content[0].tool.type must be one of tool_reference, mcp_tool_reference, mcp_toolset_reference (${type})`,
    ])
  })
})
