import { pino } from 'pino'

/** One wide line per unit of work: `log.info('delivery.attempted', { … })`. Level `error` means: a person must act tonight. */
export type Log = {
  debug(event: string, fields?: Readonly<Record<string, unknown>>): void
  info(event: string, fields?: Readonly<Record<string, unknown>>): void
  warn(event: string, fields?: Readonly<Record<string, unknown>>): void
  error(event: string, fields?: Readonly<Record<string, unknown>>): void
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent'

/** `json` for machines, `text` for a person at a terminal: time, event, then `name=value`. */
export function createLog(options: { readonly level: LogLevel; readonly format: 'json' | 'text' }): Log {
  if (options.format === 'text') return textLog(options.level)
  const serializers = { cause: causeFields }
  const logger = pino({
    level: options.level,
    base: null,
    messageKey: 'event',
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers,
  })
  return {
    debug: (event, fields) => logger.debug(fields ?? {}, event),
    info: (event, fields) => logger.info(fields ?? {}, event),
    warn: (event, fields) => logger.warn(fields ?? {}, event),
    error: (event, fields) => logger.error(fields ?? {}, event),
  }
}

/**
 * The message and the place of the error. Other fields of a database error, such as the row, may contain data that must not be
 * logged.
 */
function causeFields(cause: unknown): unknown {
  if (!(cause instanceof Error)) return cause
  const code = 'code' in cause ? { code: cause.code } : {}
  return {
    type: cause.name,
    message: cause.message,
    ...code,
    stack: cause.stack,
    ...(cause.cause === undefined ? {} : { cause: causeFields(cause.cause) }),
  }
}

const RANK = { debug: 0, info: 1, warn: 2, error: 3, silent: 4 } as const

function textLog(level: LogLevel): Log {
  const write =
    (at: keyof typeof RANK) =>
    (event: string, fields: Readonly<Record<string, unknown>> = {}) => {
      if (RANK[at] < RANK[level]) return
      const time = new Date().toISOString().slice(11, 23)
      const mark = at === 'info' ? '' : `${at} `
      process.stderr.write(`${time} ${mark}${event}${Object.entries(fields).map(asText).join('')}\n`)
    }
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }
}

function asText([name, value]: [string, unknown]): string {
  if (value === undefined) return ''
  if (value instanceof Error) return ` ${name}=${JSON.stringify(value.message)}`
  return ` ${name}=${typeof value === 'string' && /^[\w./:-]+$/.test(value) ? value : JSON.stringify(value)}`
}
