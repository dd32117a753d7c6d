/* What a client may send and should not. */

const WORDS = `
  0 -1 +1 01 1.0 1e2 0x1 1_000 ٣ 2147483648 9007199254740993 0000-01-01 2025-02-30 2025-2-3 9999-12-31 +2025-01-01
  2025-01-01T00:00:00Z ２０２５-01-01 NaN 20250101T000000Z JSON null undefined true [] {} % %zz %c3%28 %00 %2e%2e %2F
  ../../etc/passwd __proto__ constructor é 😀 {slug} versions messages . .. ~`

/** Texts in the place of a parameter: some of them fit it, most do not. */
export const NEARLY = [
  ...WORDS.trim().split(/\s+/),
  ...['', ' ', 'json ', "' OR 1=1 --", '"; DROP TABLE presets', '\ud800', '\u0000', '\r\nx-injected: 1'],
  ...['9'.repeat(400), 'a'.repeat(128), 'a'.repeat(129), 'a'.repeat(9000)],
]

/** Headers that change only the form of an answer. */
const ODD: Record<string, string[]> = {
  accept: ['*/*', '', ',,,;', 'text/csv;q=2', 'a/b,'.repeat(800), 'application/json;q=0', 'text/csv'],
  'accept-encoding': ['gzip;q=0, *', 'br', 'identity;q=0', 'zstd, gzip', 'x,'.repeat(2000)],
  range: ['bytes=0-', 'bytes=-0', 'bytes=9-1', 'bytes=99999999999999999999-', 'lines=1', 'bytes=0-1,3-4'],
  'if-none-match': ['*', '"x"', 'W/"', '"'.repeat(3000), '"a",'.repeat(1000)],
  'if-match': ['*', '"x"'],
  'if-modified-since': ['yesterday', 'Thu, 01 Jan 1970 00:00:00 GMT', '-1', '9'.repeat(100)],
  origin: ['https://example.org', 'null'],
  'x-forwarded-for': ['127.0.0.1', 'x'.repeat(1000), '::ffff:1.2.3.4, 1'],
  'x-session-id': ['x'.repeat(257), '\u00e9', ''],
  // With `close`, because Node drops what follows such a request in one packet.
  upgrade: ['h2c\r\nconnection: upgrade, close'],
  expect: ['100-continue'],
  te: ['trailers'],
  'x-http-method-override': ['DELETE'],
  cookie: ['a=b'.repeat(500)],
}
export const ODD_HEADERS = Object.entries(ODD).flatMap(([name, values]) =>
  values.map((value): [string, string] => [name, value]),
)

/** Bodies that are no request. */
export const BROKEN_BODIES = [
  ...['', '{', 'null', '[]', '"x"', '1', 'NaN', "{'a':1}", '\ufeff{}', '{}{}', '{"model":"a"'],
  ...['{"model":"a","messages":[],}', '{"model":1e999,"messages":[]}', '{"model":"a","model":2,"messages":[]}'],
  '{"__proto__":{"model":"a","messages":[]}}',
].map((text) => Buffer.from(text))

/** Media types that are not JSON's, whatever they look like. */
export const OTHER_TYPES = [
  ...['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'application/jsonx', '///'],
  ...['', 'application/json5', 'text/json', 'application/*', 'x'.repeat(2000), 'application/json, text/plain'],
]

export const OTHER_METHODS = ['PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND', 'QUERY', 'M-SEARCH', 'LINK']
