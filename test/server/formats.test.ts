import { expect, test } from 'vitest'
import { preferredFormat } from '../../server/published/negotiation.ts'

test.each([
  [undefined, 'json'],
  ['', 'json'],
  ['*/*', 'json'],
  ['application/json', 'json'],
  ['text/csv', 'csv'],
  ['TEXT/CSV', 'csv'],
  ['text/csv; charset=utf-8; header=present', 'csv'],
  ['application/x-ndjson', 'ndjson'],
  ['text/*', 'csv'],
  ['application/*', 'json'],
  ['text/csv, */*', 'csv'],
  ['application/x-ndjson, */*;q=1.0', 'ndjson'],
  ['text/csv, application/json', 'json'],
  ['text/csv;q=0.9, application/json', 'json'],
  ['text/csv, application/json;q=0.9', 'csv'],
  ['application/json;q=0, */*', 'csv'],
  ['application/json; q=0.2 , application/x-ndjson ; q=0.3', 'ndjson'],
  // A precise range decides over a wider one, also downwards.
  ['text/csv;q=0.1, text/*, application/json;q=0.5', 'json'],
  // What a browser sends.
  ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'json'],
  // Nothing here is allowed: JSON all the same.
  ['text/html', 'json'],
  ['*/*;q=0', 'json'],
  ['text/csv;q=0', 'json'],
  // A weight that is none: the element does not count.
  ['text/csv;q=2', 'json'],
  ['text/csv;q=x', 'json'],
  [',;,', 'json'],
])('Accept: %s is answered as %s', (accept, format) => {
  expect(preferredFormat(accept)).toBe(format)
})
