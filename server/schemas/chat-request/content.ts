import { z } from 'zod'
import { list, tagged, typed } from '../combinators.ts'
import { CacheControl } from '../request-parts/cache-control.ts'
import { PromptCacheBreakpoint } from '../request-parts/completion.ts'

/* Parts of the content of a message. */

export const ChatText = typed('text', {
  text: z.string(),
  cache_control: CacheControl.optional(),
  prompt_cache_breakpoint: PromptCacheBreakpoint.nullable().optional(),
})

const Image = typed('image_url', {
  image_url: z.looseObject({ url: z.string(), detail: z.enum(['auto', 'low', 'high', 'original']).optional() }),
})

const Audio = typed('input_audio', { input_audio: z.looseObject({ data: z.string(), format: z.string() }) })

const VIDEO = { video_url: z.looseObject({ url: z.string() }) }

const Video = typed('video_url', VIDEO)

/** The name of `video_url` before. */
const OldVideo = typed('input_video', VIDEO)

const File = typed('file', {
  file: z.looseObject({
    file_data: z.string().optional(),
    file_id: z.string().optional(),
    filename: z.string().optional(),
  }),
})

export const ChatPart = tagged('type', [ChatText, Image, Audio, Video, OldVideo, File])

export const TextContent = z.union([z.string(), list(ChatText)])

export const Content = z.union([z.string(), list(ChatPart)])
