export const DATA_FILES = [
  { path: 'rankings-daily.parquet', media_type: 'application/vnd.apache.parquet' },
  { path: 'rankings-daily.csv', media_type: 'text/csv; charset=utf-8' },
  { path: 'rankings-daily.csv.gz', media_type: 'application/gzip' },
  { path: 'rankings-daily.json.gz', media_type: 'application/gzip' },
  { path: 'rankings-daily.ndjson.gz', media_type: 'application/gzip' },
] as const
export type DataFile = (typeof DATA_FILES)[number]['path']

export const MANIFEST_FILE = 'manifest.json'
export const QUALITY_FILE = 'quality.json'

export function licenseText(attribution: string, synthetic: boolean): string {
  const warning = synthetic ? 'This is SYNTHETIC sample data. It describes no real usage of any model.\n\n' : ''
  return `${warning}The data is licensed under Creative Commons Attribution 4.0 International (CC BY 4.0):
https://creativecommons.org/licenses/by/4.0/

You may share and adapt it, also commercially, if you give credit:
${attribution}
`
}
