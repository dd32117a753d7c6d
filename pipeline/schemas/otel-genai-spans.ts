import {
  anyOf,
  attribute,
  count,
  first,
  isOneOf,
  joined,
  lacksAttributes,
  text,
  unixNanoseconds,
  word,
} from './expression.ts'
import type { Schema } from './schema.ts'

/** Operations that call no model themselves: what their spans say of usage repeats the spans below them. */
const NO_CALLS_OF_A_MODEL = ['create_agent', 'invoke_agent', 'invoke_workflow', 'plan', 'execute_tool', 'retrieval']

const ofSpan = (key: string) => attribute('attributes', `gen_ai.${key}`)

/**
 * Spans of OpenTelemetry with the attributes of its GenAI conventions, one a line. Cached tokens are part of the input
 * tokens. Older instrumentations say prompt and completion for input and output.
 */
export const otelGenaiSpans: Schema = {
  reading: 1,
  record: {
    timestamp: unixNanoseconds('startTimeUnixNano'),
    model_permaslug: first(word(ofSpan('response.model')), word(ofSpan('request.model'))),
    prompt_tokens: first(count(ofSpan('usage.input_tokens')), count(ofSpan('usage.prompt_tokens'))),
    completion_tokens: first(count(ofSpan('usage.output_tokens')), count(ofSpan('usage.completion_tokens'))),
    request_id: joined([text('traceId'), text('spanId')]),
    is_left_out: anyOf(
      lacksAttributes('attributes', 'gen_ai.'),
      isOneOf(ofSpan('operation.name'), NO_CALLS_OF_A_MODEL),
    ),
  },
  hasAbsoluteTime: true,
}
