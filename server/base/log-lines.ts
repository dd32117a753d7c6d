import { prettyFactory } from 'pino-pretty'

/** Without line ends and tabs. Clients may send the others in URLs, and terminals obey them. */
const CONTROL = /[^\P{Cc}\n\t]/gu

/** Turns lines of pino's JSON into lines for people: the time, the level and what happened. */
export function linesForPeople(target: { write(text: string): unknown }, colorize: boolean) {
  const pretty = prettyFactory({
    colorize,
    translateTime: 'SYS:HH:MM:ss',
    ignore: 'pid,hostname,reqId,method,url,address,status,elapsed_ms',
    singleLine: true,
    messageFormat: ({ msg, method, url, status, elapsed_ms, reqId }) => {
      const parts = [msg === 'request' ? undefined : msg, method, url, status]
      const elapsed = elapsed_ms === undefined ? undefined : `${elapsed_ms} ms`
      // It tells which request an error is of.
      const isFault = msg !== 'request' || Number(status) >= 500
      return [...parts, elapsed, isFault ? reqId : undefined].filter((part) => part !== undefined).join(' ')
    },
  })
  return {
    write(text: string): void {
      for (const line of text.split('\n')) if (line !== '') target.write(pretty(jsonOr(line)))
    },
  }
}

/** A line that is not JSON is shown as it is: what a log tells must not be lost. */
function jsonOr(line: string): unknown {
  try {
    return JSON.parse(line, withoutControl)
  } catch {
    return { msg: withoutControl('', line) }
  }
}

function withoutControl(_name: string, value: unknown): unknown {
  if (typeof value !== 'string') return value
  return value.replaceAll(CONTROL, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
