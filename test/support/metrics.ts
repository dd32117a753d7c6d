/** The samples of a text in the Prometheus format, by their lines. */
export function samplesOf(text: string): Record<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  )
}

export function sampleIn(text: string, line: string): number | undefined {
  return samplesOf(text)[line]
}

/** What was counted of requests, by `METHOD route status`. */
export function requestsIn(text: string): Record<string, number> {
  const counted: Record<string, number> = {}
  for (const [line, value] of Object.entries(samplesOf(text))) {
    const [, route, method, status] =
      /^tokenboard_http_requests_total\{route="([^"]*)",method="([^"]*)",status="([^"]*)"\}$/.exec(line) ?? []
    if (route !== undefined) counted[`${method} ${route} ${status}`] = value
  }
  return counted
}
