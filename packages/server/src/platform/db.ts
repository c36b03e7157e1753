import { randomUUID } from 'node:crypto'
import { postgres, SAY_WORKSPACE } from './driver.ts'
import { readKeptJson } from './kept-json.ts'

/** The one file that knows the database driver. Statements are built by the `sql` tag and run by a `Db`. */
export type Value =
  | string
  | number
  | boolean
  | bigint
  | Date
  | Uint8Array
  | null
  | readonly (string | number | boolean | Date | null)[]

export type Sql = { readonly strings: readonly string[]; readonly values: readonly (Value | Sql)[] }

/** `` sql`select … where id = ${id}` ``: values become parameters, nested fragments are spliced in. */
export function sql(strings: TemplateStringsArray, ...values: readonly (Value | Sql)[]): Sql {
  return { strings, values }
}

/**
 * A `text[]` of long texts, letter for letter. They travel joined by a mark that no sender can know, because escaping
 * each quote of a JSON document costs more than all the rest of its way into the database.
 */
export function texts(items: readonly (string | null)[]): Sql {
  const nothing = randomUUID()
  const mark = `${nothing}.`
  const joined = items.map((item) => item ?? nothing).join(mark)
  // An empty text is an empty array to string_to_array, not an array of one empty text.
  return joined === '' ? sql`${items}::text[]` : sql`string_to_array(${joined}, ${mark}, ${nothing})`
}

/** A pool or an open transaction. A row's type is the statement's promise; the columns are named in it. */
export type Db = {
  many<Row extends object>(query: Sql): Promise<readonly Row[]>
  maybe<Row extends object>(query: Sql): Promise<Row | undefined>
  one<Row extends object>(query: Sql): Promise<Row>
  /** How many rows the statement changed. */
  run(query: Sql): Promise<number>
}

export type Database = Db & {
  /** One transaction: commits when `work` resolves, rolls back when it throws. */
  transaction<T>(work: (db: Db) => Promise<T>): Promise<T>
  /** The same pool, for statements of one tenant: PostgreSQL shows and takes rows of this workspace alone (docs/adr/0026). */
  forWorkspace(workspaceId: string): Database
  /** The same pool, for the work of the installation: rows of every workspace. */
  readonly forSystem: Database
  /** Calls back on each NOTIFY of the channel, from now on, across reconnects. */
  listen(channel: string, heard: (payload: string) => void): Promise<void>
  close(): Promise<void>
}

/**
 * What went wrong in the database. `refused`: surely not committed. `unknown`: the connection broke while the
 * answer was due, so the statement may have been committed.
 */
export class DbError extends Error {
  readonly outcome: 'refused' | 'unknown'
  /** The database is away, busy or read-only just now: the same statement may work in a moment. */
  readonly unavailable: boolean
  readonly code: string
  readonly constraint: string | undefined

  constructor(cause: Error, code: string) {
    super(cause.message, { cause })
    this.name = 'DbError'
    this.code = code
    this.constraint = 'constraint_name' in cause ? String(cause.constraint_name) : undefined
    this.outcome = UNKNOWN_OUTCOMES.has(this.code) ? 'unknown' : 'refused'
    this.unavailable = this.outcome === 'unknown' || UNAVAILABLE.test(this.code)
  }
}

/** So much later than a statement may take, no answer means that the connection is gone without saying so. */
const ANSWER_SPARE_MS = 10_000

// Sockets and names; PostgreSQL's classes 08 and 53; shutting down, starting, cancelled, timed out, locked, read-only, no database.
const UNAVAILABLE = /^(?:CONNECT_TIMEOUT|E[A-Z_]+|08...|53...|57P0\d|57014|55P03|40001|40P01|25006|3D000)$/
const UNKNOWN_OUTCOMES = new Set([
  'NO_ANSWER',
  'CONNECTION_CLOSED',
  'CONNECTION_DESTROYED',
  'CONNECTION_ENDED',
  'ECONNRESET',
  'EPIPE',
])

/** `role`: what connections become when they open, so that policies hold for a login which they would not hold for. */
export type DatabaseTarget = (
  | { readonly url: string }
  | { readonly host: string; readonly port: number; readonly database: string; readonly username: string }
) & {
  readonly role?: string
}

/** The setting that the policies of tenant tables read: a workspace's id or, said when a connection opens, every one. */
const EVERY_WORKSPACE = 'every'

/** For the driver: where to connect to, and as whom. Without the setting a connection sees no tenant's rows at all. */
export function openClient(
  target: DatabaseTarget,
  settings: { connection: Record<string, string | number> } & Record<string, unknown>,
): ReturnType<typeof postgres> {
  const { role, ...place } = target
  const connection = {
    ...settings.connection,
    'postroad.workspace': EVERY_WORKSPACE,
    ...(role === undefined ? {} : { role }),
  }
  return 'url' in place
    ? postgres(place.url, { ...settings, connection })
    : postgres({ ...place, ...settings, connection })
}

export type DatabaseOptions = {
  readonly target: DatabaseTarget
  readonly connectionsMax: number
  readonly applicationName: string
  readonly statementTimeoutMs: number
  /** How old a connection gets at least; it may get half as old again, so that not all are made anew at once. A day when left out. */
  readonly connectionSeconds?: number
}

const DAY_SECONDS = 86_400

const asIs = (text: string): string => text
const plain = (oid: number, parse: (text: string) => unknown) => ({ to: oid, from: [oid], serialize: asIs, parse })

/** Parameters travel as text that `toParameter` made, so the driver's own serializers must leave them alone. */
const TYPES = {
  bool: plain(16, (text) => text === 't'),
  bytea: plain(17, (text) => Buffer.from(text.slice(2), 'hex')),
  int8: plain(20, Number),
  int4: plain(23, Number),
  float8: plain(701, Number),
  json: { to: 114, from: [114, 3802], serialize: asIs, parse: readKeptJson },
  timestamptz: plain(1184, (text) => new Date(text)),
}

/** Opens a pool. Connections are made when first used and made anew when lost. */
export function openDatabase(options: DatabaseOptions): Database {
  const { target } = options
  const answerMs = options.statementTimeoutMs + ANSWER_SPARE_MS
  const settings = {
    max: options.connectionsMax,
    idle_timeout: 0,
    // Statements that name days are prepared anew each day (partitions.ts), and a connection keeps all that it has prepared.
    max_lifetime: () => (options.connectionSeconds ?? DAY_SECONDS) * (1 + Math.random() / 2),
    connect_timeout: 10,
    backoff: (attempt: number) => Math.min(0.05 * 2 ** attempt, 1),
    onnotice: () => undefined,
    types: TYPES,
    // A transaction that nobody goes on with holds locks that others wait for.
    // Planning for the values at hand takes some statements ten times as long as running them, and PostgreSQL does so at
    // every run when it expects a little less work of it. A statement that needs another plan is written as another one.
    // A plan that was made while a day's table was empty reads all of it until statistics come, which is quarter of a minute of
    // a day's first load: an index that serves is always taken. Up to PostgreSQL 17 what serves not is reckoned so dear that a
    // statement of a millisecond would be compiled for seconds, where compiling is on, as it is by default.
    connection: {
      application_name: options.applicationName,
      statement_timeout: options.statementTimeoutMs,
      idle_in_transaction_session_timeout: answerMs,
      plan_cache_mode: 'force_generic_plan',
      enable_seqscan: 'off',
      jit: 'off',
    },
  }
  return databaseOf(openClient(target, settings), { answerMs })
}

type Client = ReturnType<typeof postgres>
type Saying = { readonly answerMs: number; readonly workspace?: string }

function databaseOf(client: Client, saying: Saying): Database {
  const { answerMs, workspace } = saying
  return {
    ...asDb(client, saying),
    transaction: async (work) => {
      const within = async (tx: Runner): ReturnType<typeof work> => {
        // It goes out with the first statement. When it fails, the driver fails the transaction with it.
        if (workspace !== undefined)
          tx.unsafe(SAY_WORKSPACE, [workspace], { prepare: true }).then(undefined, () => undefined)
        return work(asDb(tx, { answerMs }))
      }
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the driver unwraps arrays of promises; `work` gives one value
      return guarded(() => client.begin(within), answerMs) as ReturnType<typeof work>
    },
    forWorkspace: (workspaceId) => databaseOf(client, { answerMs, workspace: workspaceId }),
    get forSystem() {
      return databaseOf(client, { answerMs })
    },
    listen: async (channel, heard) => {
      await client.listen(channel, heard)
    },
    close: () => client.end({ timeout: 5 }),
  }
}

type Runner = {
  unsafe(
    text: string,
    parameters: (string | null)[],
    options: { prepare: boolean; simple?: boolean; workspace?: string },
  ): PromiseLike<object[] & { count: number }>
}

function asDb(runner: Runner, { answerMs, workspace }: Saying): Db {
  // A simple message, as the driver would send what has no parameters, says no workspace.
  const options = workspace === undefined ? { prepare: true } : { prepare: true, simple: false, workspace }
  const execute = (query: Sql): Promise<object[] & { count: number }> =>
    guarded(() => {
      const { text, parameters } = render(query)
      return runner.unsafe(text, parameters, options)
    }, answerMs)
  return {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the statement names the columns of its row type
    many: async <Row extends object>(query: Sql) => (await execute(query)) as readonly object[] as readonly Row[],
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
    maybe: async <Row extends object>(query: Sql) => (await execute(query))[0] as Row | undefined,
    one: async <Row extends object>(query: Sql) => {
      const [row] = await execute(query)
      if (row === undefined) throw new Error('A statement that always gives a row gave none.')
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
      return row as Row
    },
    run: async (query) => (await execute(query)).count,
  }
}

async function guarded<T>(work: () => PromiseLike<T>, answerMs: number): Promise<T> {
  const deadline = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => deadline.reject(new DbError(new Error('The database gave no answer in time.'), 'NO_ANSWER')),
    answerMs,
  )
  try {
    return await Promise.race([work(), deadline.promise])
  } catch (error) {
    if (error instanceof Error && 'code' in error && typeof error.code === 'string' && !(error instanceof DbError)) {
      throw new DbError(error, error.code)
    }
    throw error
  } finally {
    clearTimeout(timer)
  }
}

const rendered = new WeakMap<readonly string[], string>()

/** The text of a statement without nested fragments is made once per template. */
function render(query: Sql): { text: string; parameters: (string | null)[] } {
  const parameters: (string | null)[] = []
  const known = rendered.get(query.strings)
  if (known !== undefined) {
    for (const value of query.values) parameters.push(toParameter(value))
    return { text: known, parameters }
  }
  const nested = query.values.some(isSql)
  const text = spliced(query, parameters)
  if (!nested) rendered.set(query.strings, text)
  return { text, parameters }
}

function spliced(query: Sql, parameters: (string | null)[]): string {
  let text = query.strings[0] ?? ''
  query.values.forEach((value, index) => {
    if (isSql(value)) {
      text += spliced(value, parameters)
    } else {
      parameters.push(toParameter(value))
      text += `$${parameters.length}`
    }
    text += query.strings[index + 1] ?? ''
  })
  return text
}

function isSql(value: Value | Sql): value is Sql {
  return typeof value === 'object' && value !== null && 'strings' in value
}

function toParameter(value: Value | Sql): string | null {
  if (value === null) return null
  if (typeof value === 'string') return value
  if (value instanceof Date) return value.toISOString()
  if (value instanceof Uint8Array)
    return `\\x${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('hex')}`
  if (Array.isArray(value)) return arrayText(value)
  // oxlint-disable-next-line typescript/no-base-to-string -- fragments were spliced before; numbers, booleans and bigints remain
  return String(value)
}

const SPECIAL = /["\\]/
const EACH_SPECIAL = /["\\]/g

/** A PostgreSQL array literal. Quoting everything is always right; `null` stays bare. */
function arrayText(items: readonly (string | number | boolean | Date | null)[]): string {
  let text = '{'
  for (let index = 0; index < items.length; index += 1) {
    const item = items[index]
    if (index > 0) text += ','
    if (item === null || item === undefined) text += 'null'
    else if (typeof item === 'string') text += `"${SPECIAL.test(item) ? item.replace(EACH_SPECIAL, '\\$&') : item}"`
    else if (item instanceof Date) text += `"${item.toISOString()}"`
    else text += String(item)
  }
  return `${text}}`
}
