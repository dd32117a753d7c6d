const GZIP = [0x1f, 0x8b]

/** A host answered with an error. */
export class StatusError extends Error {
  readonly isGone: boolean

  constructor(path: string, status: number) {
    super(`${path} was answered with ${status}`)
    this.isGone = status === 404 || status === 410
  }
}

/**
 * Fetches a gzip file and decompresses it. Some hosts send it as compressed on the way, and then the browser has already
 * decompressed it: a file that does not begin as gzip is returned as it is. Throws `StatusError`.
 *
 * @param onProgress is called with the share that was loaded, if the host says how much there is
 */
export async function fetchGunzipped(path: string, onProgress = (_share: number): void => {}): Promise<Blob> {
  const answer = await fetch(path)
  if (!answer.ok || answer.body === null) throw new StatusError(path, answer.status)
  const bytes = Number(answer.headers.get('content-length') ?? 0)
  const chunks: Uint8Array<ArrayBuffer>[] = []
  let loaded = 0
  const reader = answer.body.getReader()
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    chunks.push(read.value)
    loaded += read.value.length
    if (bytes > 0) onProgress(Math.min(1, loaded / bytes))
  }
  const file = new Blob(chunks)
  const head = new Uint8Array(await file.slice(0, GZIP.length).arrayBuffer())
  if (GZIP.some((byte, at) => head[at] !== byte)) return file
  return new Response(file.stream().pipeThrough(new DecompressionStream('gzip'))).blob()
}
