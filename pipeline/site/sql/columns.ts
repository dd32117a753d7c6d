/** The tables of the SQL console and the columns of their files, in order. */
export const SQL_TABLES = {
  daily: [
    ['date', 'DATE'],
    ['model_permaslug', 'VARCHAR'],
    ['total_tokens', 'BIGINT'],
  ],
  weekly: [
    ['date', 'DATE'],
    ['model_permaslug', 'VARCHAR'],
    ['total_tokens', 'BIGINT'],
    ['days', 'INTEGER'],
  ],
  monthly: [
    ['date', 'DATE'],
    ['model_permaslug', 'VARCHAR'],
    ['total_tokens', 'BIGINT'],
    ['days', 'INTEGER'],
  ],
  history: [
    ['table', 'VARCHAR'],
    ['date', 'DATE'],
    ['model_permaslug', 'VARCHAR'],
    ['total_tokens', 'BIGINT'],
    ['days', 'INTEGER'],
    ['position', 'INTEGER'],
    ['valid_from', 'VARCHAR'],
    ['valid_to', 'VARCHAR'],
  ],
} as const satisfies Record<string, readonly (readonly [name: string, type: string])[]>

export type SqlTable = keyof typeof SQL_TABLES
