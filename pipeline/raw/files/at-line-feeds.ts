const LINE_FEED = 0x0a
const NONE = Buffer.alloc(0)

/** The same bytes in other chunks, cut behind line feeds: only the last one, or one of a line above `longest`, ends elsewhere. */
export async function* atLineFeeds(chunks: AsyncIterable<Buffer>, longest: number): AsyncIterable<Buffer> {
  let begun: Buffer = NONE
  for await (const chunk of chunks) {
    const first = begun.length === 0 ? 0 : chunk.indexOf(LINE_FEED) + 1
    if (begun.length > 0 && (first > 0 || begun.length > longest)) {
      yield Buffer.concat([begun, chunk.subarray(0, first)])
      begun = NONE
    }
    const end = Math.max(first, chunk.lastIndexOf(LINE_FEED) + 1)
    if (end > first) yield chunk.subarray(first, end)
    // The chunk may be overwritten by the next one.
    if (end < chunk.length) begun = Buffer.concat([begun, chunk.subarray(end)])
  }
  if (begun.length > 0) yield begun
}
