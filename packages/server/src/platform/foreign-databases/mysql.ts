import { createConnection, type Connection, type FieldPacket } from 'mysql2'
import { LIMITS } from '@postroad/contract'
import { ForeignFailure } from '../foreign-failure.ts'
import type { GuardedSocket } from '../guarded/guarded-socket.ts'
import { tlsOptions } from '../guarded/tls.ts'
import { MYSQL } from '../guarded/units.ts'
import { failureOf } from './failure.ts'
import { LOGIN_BYTES_MAX, openSocket, peerOf } from './socket.ts'
import type { Bound, DatabaseReader, KeysetRow, ReadDatabase, Reading } from './types.ts'

const ANSWER_SPARE_MS = 5_000
const NUMBERS = new Set([
  'TINY',
  'SHORT',
  'LONG',
  'INT24',
  'LONGLONG',
  'DECIMAL',
  'NEWDECIMAL',
  'FLOAT',
  'DOUBLE',
  'YEAR',
])
const TIMES = new Set(['TIMESTAMP', 'DATETIME', 'TIMESTAMP2', 'DATETIME2'])
const BYTES = new Set([
  'BLOB',
  'TINY_BLOB',
  'MEDIUM_BLOB',
  'LONG_BLOB',
  'BIT',
  'GEOMETRY',
  'VAR_STRING',
  'STRING',
  'VARCHAR',
])
const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
/** The character set of bytes that are not text. */
const BINARY = 63

/** Reads MySQL and MariaDB in one read-only transaction. Numbers and times stay as the database writes them. */
export const readMysql: ReadDatabase = async ({ reach, place, of, bytesMax, rowBytesMax, signal }, work) => {
  const socket = await openSocket({ reach, place, signal, ...BUDGET, opening: null })
  const connection = createConnection({
    host: place.host,
    port: place.port,
    database: place.database,
    user: place.user,
    password: place.password,
    stream: () => socket,
    ...(place.tls.mode === 'off' ? {} : { ssl: { rejectUnauthorized: true, verifyIdentity: true } }),
    connectTimeout: LIMITS.deliveryConnectMs,
    charset: 'utf8mb4',
    multipleStatements: false,
    flags: ['-LOCAL_FILES'],
    rowsAsArray: true,
    typeCast: cast,
  })
  // The driver would encrypt outside of the guarded socket, whose budget counts plain bytes.
  Object.assign(connection, {
    startTLS: (done: (error?: unknown) => void) =>
      socket.secure(tlsOptions(peerOf(place), reach.ca)).then(() => done(), done),
  })
  try {
    const session = { connection, socket }
    const reading = settle(session).then(() => work(readerOf(session, { of, bytesMax, rowBytesMax })))
    return await Promise.race([reading, broken(session)])
  } catch (error) {
    throw failureOf(socket.breach ?? error)
  } finally {
    connection.destroy()
    socket.destroy()
  }
}

/** Much more than a page, and than a row that can be stored. */
const ANSWER_BYTES_MAX = 4 * LIMITS.sourceBatchBytesMax
const BUDGET = { units: MYSQL, unitBytesMax: ANSWER_BYTES_MAX, answerBytesMax: LOGIN_BYTES_MAX }

type Session = { readonly connection: Connection; readonly socket: GuardedSocket }

/** Rejects when the connection breaks: the driver does not fail every statement that waits for it. */
function broken({ connection, socket }: Session): Promise<never> {
  return new Promise((_resolve, reject) => {
    connection.on('error', reject)
    socket.once('close', () => reject(new Error('it was closed')))
  })
}

async function settle(session: Session): Promise<void> {
  await new Promise<void>((resolve, reject) =>
    session.connection.connect((error) => (error === null ? resolve() : reject(error))),
  )
  const { rows } = await ask(session, 'select version()')
  await ask(session, "set session time_zone = '+00:00'")
  // MariaDB counts in seconds and has another name for it.
  const limit = /mariadb/i.test(textOf(rows[0]?.[0]))
    ? `set session max_statement_time = ${LIMITS.sourceStatementMs / 1_000}`
    : `set session max_execution_time = ${LIMITS.sourceStatementMs}`
  await ask(session, limit)
  await ask(session, 'set session transaction isolation level repeatable read')
  await ask(session, 'start transaction read only')
}

/** The values of a row: numbers and times as text, other texts as bytes, whose character set only the fields know. */
type Value = string | Buffer | null
type Rows = {
  readonly rows: readonly (readonly Value[])[]
  readonly fields: readonly FieldPacket[]
  readonly cut: boolean
}

const cast = (field: { type: string; string(): string | null; buffer(): Buffer | null }): Value =>
  BYTES.has(field.type) ? field.buffer() : field.string()

/** Runs a query, and stops reading when the rows have more bytes than `bytesMax`. */
function ask(
  { connection, socket }: Session,
  text: string,
  given: { values?: unknown[]; bytesMax?: number } = {},
): Promise<Rows> {
  const { values = [], bytesMax = LIMITS.sourceBatchBytesMax } = given
  return new Promise((resolve, reject) => {
    const rows: (readonly Value[])[] = []
    let fields: readonly FieldPacket[] = []
    let bytes = 0
    let cut = false
    socket.startAnswer(ANSWER_BYTES_MAX)
    const query = connection.query({ sql: text, values, timeout: LIMITS.sourceStatementMs + ANSWER_SPARE_MS })
    query.on('fields', (given_: FieldPacket[]) => {
      fields = given_ ?? []
    })
    query.on('result', (row: readonly Value[] | object) => {
      if (!Array.isArray(row) || cut) return
      bytes += row.reduce((sum: number, value: Value) => sum + (value?.length ?? 4), 0)
      if (bytes > bytesMax && rows.length > 0) {
        // The rest of the answer is not read: this connection runs no other query.
        cut = true
        connection.destroy()
        resolve({ rows, fields, cut })
        return
      }
      rows.push(row)
    })
    query.on('error', reject)
    query.on('end', () => resolve({ rows, fields, cut }))
  })
}

const name = (column: string): string => `q.\`${column.replaceAll('`', '``')}\``

function readerOf(session: Session, { of, bytesMax, rowBytesMax }: Reading): DatabaseReader {
  const cursor = name(of.cursorColumn)
  const key = of.keyColumn === null ? undefined : name(of.keyColumn)
  const from = `from (\n${of.query}\n) q`
  const order = (direction: '' | ' desc'): string =>
    [cursor, ...(key === undefined ? [] : [key])].map((one) => one + direction).join(', ')
  let types: readonly string[] | undefined
  const typesOf = async (): Promise<readonly string[]> => {
    types ??= (await ask(session, `select ${cursor}, ${key ?? 'null'} ${from} limit 0`)).fields.map(typeOf)
    return types
  }
  return {
    isTime: async () => TIMES.has((await typesOf())[0] ?? ''),
    newest: async () => {
      const { rows } = await ask(
        session,
        `select ${cursor}, ${key ?? 'null'} ${from} where ${cursor} is not null order by ${order(' desc')} limit 1`,
      )
      requireKeys(rows, of.keyColumn)
      const [row] = rows
      return row === undefined ? null : boundOf(row)
    },
    rows: async ({ after, upTo, lagSeconds, limit }) => {
      const kinds = await typesOf()
      const values: unknown[] = []
      const value = (text: string | null, index: number): string => literal(values, { text, type: kinds[index] ?? '' })
      const beyond = (bound: Bound, sign: '<' | '>', last: '<=' | '>'): string => {
        if (key === undefined) return `${cursor} ${last} ${value(bound.cursor, 0)}`
        const further = `${cursor} ${sign} ${value(bound.cursor, 0)} or (${cursor} = ${value(bound.cursor, 0)} and ${key} ${last} ${value(bound.key, 1)})`
        // A null key is neither before nor after a position, so the row would be skipped silently.
        return bound.key === null
          ? `(${further})`
          : `(${further} or (${cursor} = ${value(bound.cursor, 0)} and ${key} is null))`
      }
      const bounds = [
        `${cursor} is not null`,
        ...(after === null ? [] : [beyond(after, '>', '>')]),
        ...(upTo === null ? [] : [beyond(upTo, '<', '<=')]),
        ...(lagSeconds === 0 ? [] : [`${cursor} <= now(6) - interval ${lagSeconds} second`]),
      ]
      const text = `select ${cursor}, ${key ?? 'null'}, q.* ${from} where ${bounds.join(' and ')} order by ${order('')} limit ${limit}`
      const { rows, fields, cut } = await ask(session, text, { values, bytesMax })
      requireKeys(rows, of.keyColumn)
      return { rows: rows.map((row) => rowOf(row, { fields, rowBytesMax })), more: cut || rows.length === limit }
    },
  }
}

function requireKeys(rows: Rows['rows'], keyColumn: string | null): void {
  if (keyColumn === null || rows.every(([_cursor, key]) => key !== null)) return
  throw new ForeignFailure(
    'query_failed',
    `The key_column "${keyColumn}" is null in a row, so rows with the same cursor could be skipped. Choose a column that is never null, or leave these rows out of the query.`,
  )
}

/** A number is compared as a number only when it is written as one. The value comes from the database, and is checked. */
function literal(values: unknown[], { text, type }: { text: string | null; type: string }): string {
  if (text !== null && NUMBERS.has(type) && JSON_NUMBER.test(text)) return text
  values.push(text)
  return '?'
}

const TYPE_NAMES: Readonly<Record<number, string>> = {
  0: 'DECIMAL',
  1: 'TINY',
  2: 'SHORT',
  3: 'LONG',
  4: 'FLOAT',
  5: 'DOUBLE',
  7: 'TIMESTAMP',
  8: 'LONGLONG',
  9: 'INT24',
  12: 'DATETIME',
  13: 'YEAR',
  245: 'JSON',
  246: 'NEWDECIMAL',
}
const typeOf = (field: FieldPacket): string => TYPE_NAMES[field.columnType ?? field.type ?? -1] ?? ''

const textOf = (value: Value | undefined): string =>
  value === null || value === undefined ? '' : typeof value === 'string' ? value : value.toString('utf8')

const boundOf = ([cursor, key]: readonly Value[]): Bound => ({
  cursor: textOf(cursor),
  key: key === null || key === undefined ? null : textOf(key),
})

function rowOf(
  row: readonly Value[],
  { fields, rowBytesMax }: { fields: readonly FieldPacket[]; rowBytesMax: number },
): KeysetRow {
  // The first two are the cursor and the key.
  const members = fields.slice(2).map((field, index) => `${JSON.stringify(field.name)}:${token(row[index + 2], field)}`)
  const json = `{${members.join(',')}}`
  return { ...boundOf(row), json: Buffer.byteLength(json) > rowBytesMax ? null : json }
}

function token(value: Value | undefined, field: FieldPacket): string {
  if (value === null || value === undefined) return 'null'
  const type = typeOf(field)
  if (typeof value === 'string' && NUMBERS.has(type) && JSON_NUMBER.test(value)) return value
  if (type === 'JSON' || field.extendedFormat === 'json') return textOf(value)
  if (typeof value !== 'string' && field.characterSet === BINARY) return JSON.stringify(value.toString('base64'))
  return JSON.stringify(textOf(value))
}
