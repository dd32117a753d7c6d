export { isDocument, mediaType } from '../../pipeline/contract/published-paths.ts'

/** What every document says beside its policy: it tells nobody where its readers come from, and no page has a hold on it. */
export const DOCUMENT_HEADERS = {
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
}
