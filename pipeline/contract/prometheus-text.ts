/** The Prometheus text format, version 0.0.4: what `/metrics` answers and node_exporter's textfile collector reads. */

export interface MetricSample {
  value: number
  labels?: Readonly<Record<string, string>>
  /** Of a histogram: which of its series this is. */
  suffix?: '_bucket' | '_sum' | '_count'
}

export interface MetricFamily {
  name: string
  help: string
  type: 'counter' | 'gauge' | 'histogram'
  samples: readonly MetricSample[]
}

export const METRICS_MEDIA_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** The families in this order, each with its help and type. One without samples is left out. */
export function renderMetrics(families: readonly MetricFamily[]): string {
  return families
    .filter(({ samples }) => samples.length > 0)
    .map(renderFamily)
    .join('')
}

function renderFamily({ name, help, type, samples }: MetricFamily): string {
  const lines = samples.map(
    ({ suffix = '', labels = {}, value }) => `${name}${suffix}${renderLabels(labels)} ${renderValue(value)}\n`,
  )
  return `# HELP ${name} ${help.replaceAll(/[\\\n]/g, escaped)}\n# TYPE ${name} ${type}\n${lines.join('')}`
}

function renderLabels(labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${value.replaceAll(/[\\\n"]/g, escaped)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

function escaped(character: string): string {
  return character === '\n' ? '\\n' : `\\${character}`
}

function renderValue(value: number): string {
  if (Number.isFinite(value) || Number.isNaN(value)) return String(value)
  return value > 0 ? '+Inf' : '-Inf'
}
