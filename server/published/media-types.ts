export { isDocument, mediaType } from '../../pipeline/contract/published-paths.ts'

/** Headers of every document: hide the referrer, and isolate the page from its opener. */
export const DOCUMENT_HEADERS = {
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
}
