import { z } from 'zod'
import { list, tagged, typed } from '../combinators.ts'
import { PromptCacheBreakpoint } from '../request-parts/completion.ts'

/* Parts of the content of messages and of the results of tools. */

export const InputText = typed('input_text', {
  text: z.string(),
  prompt_cache_breakpoint: PromptCacheBreakpoint.nullable().optional(),
})

export const InputImage = typed('input_image', {
  detail: z.enum(['auto', 'high', 'low', 'original']),
  image_url: z.string().nullable().optional(),
})

export const InputFile = typed('input_file', {
  file_data: z.string().optional(),
  file_id: z.string().nullable().optional(),
  file_url: z.string().optional(),
  filename: z.string().optional(),
})

const InputAudio = typed('input_audio', {
  input_audio: z.looseObject({ data: z.string(), format: z.enum(['mp3', 'wav']) }),
})

const InputVideo = typed('input_video', { video_url: z.string() })

const Annotation = tagged('type', [
  typed('file_citation', { file_id: z.string(), filename: z.string(), index: z.int() }),
  typed('url_citation', {
    url: z.string(),
    title: z.string(),
    start_index: z.int(),
    end_index: z.int(),
    content: z.string().optional(),
  }),
  typed('file_path', { file_id: z.string(), index: z.int() }),
])

const TOKEN = { token: z.string(), logprob: z.number(), bytes: list(z.int()) }

const OutputText = typed('output_text', {
  text: z.string(),
  annotations: list(Annotation).optional(),
  logprobs: list(z.looseObject({ ...TOKEN, top_logprobs: list(z.looseObject(TOKEN)) })).optional(),
})

const Refusal = typed('refusal', { refusal: z.string() })

export const MessagePart = tagged('type', [
  InputText,
  InputImage,
  InputFile,
  InputAudio,
  InputVideo,
  OutputText,
  Refusal,
])

/** What a tool gave back: a text, or parts. */
export const ToolOutput = z.union([z.string(), list(tagged('type', [InputText, InputImage, InputFile]))])
