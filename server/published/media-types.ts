import { basename, extname } from 'node:path'

const MEDIA_TYPES: Record<string, string> = {
  '.atom': 'application/atom+xml; charset=utf-8',
  '.bib': 'application/x-bibtex; charset=utf-8',
  '.cff': 'application/yaml; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.csv': 'text/csv; charset=utf-8',
  // A compressed file is a download of its own, not another coding of the file without the ending.
  '.gz': 'application/gzip',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.jsonl': 'application/x-ndjson',
  '.jsonld': 'application/ld+json; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.ndjson': 'application/x-ndjson',
  '.parquet': 'application/vnd.apache.parquet',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.wasm': 'application/wasm',
  '.woff2': 'font/woff2',
  '.xml': 'application/xml',
  '.zst': 'application/zstd',
  // LICENSE, SHA256SUMS
  '': 'text/plain; charset=utf-8',
}

/** The media type of a published file, by its name: its ending, but for a feed. */
export function mediaType(path: string): string {
  if (basename(path) === 'feed.json') return 'application/feed+json; charset=utf-8'
  return MEDIA_TYPES[extname(path).toLowerCase()] ?? 'application/octet-stream'
}

/** Whether a browser runs a published file as a document when it is opened, so that a policy has to bind it. */
export function isDocument(path: string): boolean {
  return ['.atom', '.html', '.svg', '.xml'].includes(extname(path).toLowerCase())
}

/** What every document says beside its policy: it tells nobody where its readers come from, and no page has a hold on it. */
export const DOCUMENT_HEADERS = {
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
}
