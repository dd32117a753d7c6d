/** Records of text files, as odd as they come: one value in six is one that some reader stumbles over. */

export type Random = () => number

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
export function randomFrom(seed: number): Random {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export function pick<Item>(random: Random, items: readonly Item[]): Item {
  return items[Math.floor(random() * items.length)] as Item
}

/** What columns of the canonical schema have: usual values, and odd ones. The column `note` is in no schema. */
interface Values {
  usual: readonly string[]
  odd: readonly string[]
}

const KEY = 'ab12'.repeat(16)
const TIMES: Values = {
  usual: [
    '2025-03-01T00:00:00Z',
    '2025-03-01T23:59:59.999999Z',
    '2025-03-02 12:30:00.5Z',
    '2025-03-01T23:59:59.999999999Z',
    '2024-02-29T10:00:00+00:00',
    '2025-03-02T12:30:00',
    '2025-03-02 12:30:00.123',
  ],
  odd: [
    '2025-03-01T24:00:00Z',
    '2025-03-01T23:59:60Z',
    '2025-03-01T23:60:00Z',
    '2025-03-01T00:00:00+02:00',
    '2025-03-01T00:30:00-0100',
    '2025-03-01T00:00:00+00',
    '2025-03-01T00:00:00 +00:00',
    '2025-03-01T00:00:00 Z',
    '2025-03-01T00:00:00-00:00',
    '2025-03-01t00:00:00z',
    '2025-03-01T00:00Z',
    '2025-03-01',
    '2025-02-29T00:00:00Z',
    '2025-00-01T00:00:00Z',
    '2025-13-01T00:00:00Z',
    '2025-01-00T00:00:00Z',
    '2025-04-31T00:00:00Z',
    '0000-01-01T00:00:00Z',
    '0999-12-31T00:00:00Z',
    '1000-01-01T00:00:00Z',
    '9999-12-31T23:59:59.9999999Z',
    '1969-12-31T23:59:59.999999999Z',
    '2025-03-01T00:00:00.Z',
    '2025-03-01T00:00:00,5Z',
    '2025-03-01T00:00:00.1234567890Z',
    '2025-03-01T00:00:00ZZ',
    '2025-03-01T00:00:00UTC',
    '2025-03-01X00:00:00Z',
    '2025/03/01T00:00:00Z',
    '20250301T000000Z',
    '1740787200',
    ' 2025-03-01T00:00:00Z',
    '2025-03-01T00:00:00Z ',
    '+2025-03-01T00:00:00Z',
    '',
  ],
}
const COUNTS: Values = {
  usual: ['0', '1', '17', '4096', '999999999999999', ''],
  odd: [
    '00',
    '007',
    '-0',
    '-1',
    '+1',
    '1.0',
    '1.5',
    '1e3',
    '1E3',
    '1_000',
    '1,000',
    ' 1',
    '1 ',
    '1000000000000000',
    '9007199254740991',
    '9007199254740992',
    '99999999999999999999999999',
    '0x10',
    'NaN',
    'Infinity',
    'null',
    'true',
    'x',
    '١',
    '１',
  ],
}
const COSTS: Values = {
  usual: ['0', '0.1', '0.000000001', '12.5', '999999.999999999', '3.10', ''],
  odd: [
    '0.0000000001',
    '0.0000000005',
    '1.',
    '.5',
    '00.5',
    '-0.5',
    '-0',
    '+1',
    '1e-5',
    '5.2e-06',
    '1E2',
    '1_0.5',
    '999999999.999999999',
    '1000000',
    '1000000000',
    '1.2.3',
    'NaN',
    '$1',
    'null',
    ' 1',
  ],
}
const TEXTS = [
  'a b',
  'é',
  '北京',
  '\u{1f600}',
  '\ufeffx',
  '\u007f',
  "it's",
  'a/b',
  'a,b',
  'a;b',
  '#x',
  ' x',
  'x ',
  '\u00a0',
]
const ODD_TEXTS = ['a"b', '"', '""', 'a\tb', 'a\nb', 'a\r\nb', 'a\rb', '\\', '\\"', 'a\\', '\0', '\u0001', '\ud800']
const BYOK: Values = { usual: ['true', 'false', ''], odd: ['TRUE', 'False', '0', '1', 'yes', 'null', ' true'] }

export const VALUES: Readonly<Record<string, Values>> = {
  timestamp: TIMES,
  model_permaslug: { usual: ['a/b', 'c/d-1'], odd: [...TEXTS, ...ODD_TEXTS] },
  prompt_tokens: COUNTS,
  completion_tokens: COUNTS,
  request_id: { usual: ['r-1', '17', ''], odd: [...TEXTS, ...ODD_TEXTS] },
  visibility: {
    usual: ['public', 'private', ''],
    odd: ['Public', 'secret', ' public', 'null', ...TEXTS, ...ODD_TEXTS],
  },
  api_key_hash: { usual: [KEY, ''], odd: [KEY.toUpperCase(), KEY.slice(1), `${KEY} `, 'null'] },
  contributor: { usual: ['acme', 'Acme', ''], odd: [...TEXTS, ...ODD_TEXTS] },
  cost_usd: COSTS,
  is_byok: BYOK,
  note: { usual: ['', 'x', '1.5'], odd: [...TEXTS, ...ODD_TEXTS] },
}

const ODD_SHARE = 1 / 40

/** A value of a column as text, most often a usual one. */
function textOf(random: Random, column: string): string {
  const { usual, odd } = VALUES[column] ?? { usual: [''], odd: [''] }
  return pick(random, random() < ODD_SHARE ? odd : usual)
}

/** A record of CSV, without its line end. `tag` ends the name of its model. */
export function oddCsvRecord(random: Random, columns: readonly string[], delimiter: string, tag: string): string {
  const fields = columns.map((column) => {
    const text = textOf(random, column) + (column === 'model_permaslug' ? tag : '')
    const style = random()
    if (style < 0.01) return text
    if (style < 0.02) return ` "${text}"`
    if (style < 0.03) return `"${text}" `
    if (style < 0.04) return `"${text}"x`
    const isSpecial = /["\r\n]/.test(text) || text.includes(delimiter)
    return isSpecial || style < 0.2 ? `"${text.replaceAll('"', '""')}"` : text
  })
  const style = random()
  if (style < 0.01) fields.push('')
  else if (style < 0.02) fields.push('x')
  else if (style < 0.03) fields.pop()
  return fields.join(delimiter)
}

/** How JSON may write a member that has no text, or a text of its own. */
const ODD_JSON = [
  'null',
  'true',
  'false',
  '0',
  '-0',
  '1e3',
  '1E+2',
  '1e-9',
  '1e999',
  '1.50',
  '007',
  '+1',
  '.5',
  '1.',
  '-',
  'NaN',
  'Infinity',
  '-inf',
  '12345678901234567890',
  '0.30000000000000004',
  '12345678901234567890.12345678901234567890123456789',
  '{}',
  '[]',
  '[1,2]',
  '{"a":1}',
  '{"a":1,"a":2}',
  '"\\u00e9"',
  '"\\/"',
  '"\\ud83d\\ude00"',
  '"\\ud800"',
  '"\\u0000"',
  '"\\u00g0"',
  '"\\x"',
  '"\\n\\t\\b\\f\\r\\\\\\""',
  '"x',
  "'x'",
  'nul',
  'nulll',
  'TRUE',
  '',
]

const IS_NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/

/** What programs write between members of JSON, and between key and value. */
const PUNCTUATION = [
  [',', ':'],
  [', ', ': '],
] as const

/** Lines of JSON without anything odd, one for each punctuation. */
export function usualJsonRecords(keys: readonly string[]): string[] {
  return PUNCTUATION.map(([comma, colon]) => {
    const members = keys.map((key) => {
      const text = VALUES[key]?.usual[0] ?? ''
      return `"${key}"${colon}${IS_NUMBER.test(text) ? text : JSON.stringify(text)}`
    })
    return `{${members.join(comma)}}`
  })
}

/** A line of JSON, without its line end. `keys` are in its order; some lines lack one, or have one twice. */
export function oddJsonRecord(random: Random, keys: readonly string[], tag: string): string {
  const [comma, colon] = pick(random, PUNCTUATION)
  const members = keys.flatMap((key) => {
    const name = random() < 0.003 ? pick(random, [`\\u0070${key.slice(1)}`, `${key} `, 'é', '']) : key
    const style = random()
    if (style < 0.004) return []
    const text = textOf(random, key) + (key === 'model_permaslug' ? tag : '')
    const isBare = IS_NUMBER.test(text) || ['true', 'false', 'null'].includes(text)
    const written = isBare ? text : text === '' ? 'null' : JSON.stringify(text)
    const value =
      style < 0.03
        ? pick(random, ODD_JSON)
        : style < 0.06
          ? JSON.stringify(text)
          : style < 0.065
            ? `"${text}"`
            : written
    const member = `"${name}"${colon}${value}`
    return style > 0.998 ? [member, member] : [member]
  })
  const style = random()
  const line = `{${members.join(comma)}}`
  if (style < 0.004) return pick(random, ['', ' ', '[]', 'null', '{}', line.slice(0, -1), `${line},`, `[${line}]`])
  if (style < 0.01)
    return pick(random, [
      ` ${line}`,
      `${line} `,
      `${line}\r`,
      `\t${line}\t`,
      `${line.slice(0, -1)},}`,
      `${line}${line}`,
    ])
  return line
}
