import { randomUUID } from 'node:crypto'
import { DbError } from './db-error.ts'
import { SAY_WORKSPACE } from './driver-patches.ts'
import { postgres } from './driver.ts'
import { readExactJson } from './exact-json.ts'
import { createPatience, type Patience } from './patience.ts'

export { DbError } from './db-error.ts'

/** Statements are built by the `sql` tag and run by a `Db`. */
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

/** A statement without parameters, such as DDL. The caller makes the names and bounds in it, never from the text of a user. */
export function statement(text: string): Sql {
  return { strings: [text], values: [] }
}

/**
 * A `text[]` of long texts, byte for byte. They travel joined by a mark that no sender can know, because escaping each quote of
 * a JSON document costs more than the rest of its way into the database.
 */
export function texts(items: readonly (string | null)[]): Sql {
  const nothing = randomUUID()
  const mark = `${nothing}.`
  const joined = items.map((item) => item ?? nothing).join(mark)
  // For string_to_array, an empty text is an empty array, not an array of one empty text.
  return joined === '' ? sql`${items}::text[]` : sql`string_to_array(${joined}, ${mark}, ${nothing})`
}

/** The name of a table or a column, which comes from the code or the catalog and never from a request. */
export function named(name: string): Sql {
  return { strings: [`"${name.replaceAll('"', '""')}"`], values: [] }
}

/** A pool or an open transaction. The statement must match its row type; it names the columns. */
export type Db = {
  many<Row extends object>(query: Sql): Promise<readonly Row[]>
  maybe<Row extends object>(query: Sql): Promise<Row | undefined>
  one<Row extends object>(query: Sql): Promise<Row>
  /** Returns how many rows the statement changed. */
  run(query: Sql): Promise<number>
}

export type Database = Db & {
  /** One transaction: commits when `work` resolves, rolls back when it throws. */
  transaction<T>(work: (db: Db) => Promise<T>): Promise<T>
  /** The same pool, for statements of one tenant: PostgreSQL shows and accepts only rows of this workspace (docs/adr/0026). */
  forWorkspace(workspaceId: string): Database
  /** The same pool, for work of the installation: rows of every workspace. */
  readonly forSystem: Database
  /**
   * The same pool, for requests that somebody waits for: while the database is away, a statement that did nothing, or a
   * transaction that did not begin, waits for it (`patience.ts`).
   */
  readonly patient: Database
  /** Calls back on each NOTIFY of the channel, from now on, even across reconnects. */
  listen(channel: string, heard: (payload: string) => void): Promise<void>
  /** The statements and transactions that have no answer yet. */
  underWay(): number
  close(): Promise<void>
}

/** No answer this long after the statement timeout means that the connection was lost silently. */
const ANSWER_SPARE_MS = 10_000

/** `role`: connections switch to this role when they open, so that policies bind a login that would bypass them. */
export type DatabaseTarget = (
  | { readonly url: string }
  | { readonly host: string; readonly port: number; readonly database: string; readonly username: string }
) & {
  readonly role?: string
}

/**
 * The policies of tenant tables read this setting. Its value is a workspace's id or, set when a connection opens, every
 * workspace.
 */
const EVERY_WORKSPACE = 'every'

/** Opens a driver client for the target. Without the setting, a connection sees no tenant's rows at all. */
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
  /**
   * The minimum age of a connection when it is replaced. It can get half as old again, so that connections are not all
   * replaced at the same time. Defaults to a day.
   */
  readonly connectionSeconds?: number
}

const DAY_SECONDS = 86_400
/** A connection that was not used for this long is closed, because its backend retains the plans of all statements. */
const IDLE_SECONDS = 60

const asIs = (text: string): string => text
const plain = (oid: number, parse: (text: string) => unknown) => ({ to: oid, from: [oid], serialize: asIs, parse })

/** Parameters are text that `toParameter` made, so the driver's own serializers must not change them. */
const TYPES = {
  bool: plain(16, (text) => text === 't'),
  bytea: plain(17, (text) => Buffer.from(text.slice(2), 'hex')),
  int8: plain(20, Number),
  int4: plain(23, Number),
  float8: plain(701, Number),
  json: { to: 114, from: [114, 3802], serialize: asIs, parse: readExactJson },
  timestamptz: plain(1184, (text) => new Date(text)),
}

/** Opens a pool. Connections are opened on first use and replaced when lost. */
export function openDatabase(options: DatabaseOptions): Database {
  const { target } = options
  const answerMs = options.statementTimeoutMs + ANSWER_SPARE_MS
  const settings = {
    max: options.connectionsMax,
    idle_timeout: IDLE_SECONDS,
    // Statements that name days are prepared again each day (partitions.ts), and a connection retains all statements that it has
    // prepared.
    max_lifetime: () => (options.connectionSeconds ?? DAY_SECONDS) * (1 + Math.random() / 2),
    connect_timeout: 10,
    backoff: (attempt: number) => Math.min(0.05 * 2 ** attempt, 0.2),
    onnotice: () => undefined,
    types: TYPES,
    connection: {
      application_name: options.applicationName,
      statement_timeout: options.statementTimeoutMs,
      // An abandoned transaction has locks that others wait for.
      idle_in_transaction_session_timeout: answerMs,
      // PostgreSQL would plan some statements again on every run, which takes ten times as long as the run. A statement that
      // needs another plan is written as another statement.
      plan_cache_mode: 'force_generic_plan',
      // A plan made while a day's table was empty would read the whole table until statistics come, a quarter of a minute into
      // the first load of the day.
      enable_seqscan: 'off',
      // Up to PostgreSQL 17, disabled plan types have so high a cost that JIT would compile a statement of a millisecond for
      // seconds.
      jit: 'off',
    },
  }
  return databaseOf(openClient(target, settings), { answerMs, load: { underWay: 0 }, patience: createPatience() })
}

type Client = ReturnType<typeof postgres>
type Saying = {
  readonly answerMs: number
  readonly load: { underWay: number }
  readonly workspace?: string | undefined
  readonly patience: Patience
  /** Whether what did nothing waits for the database. */
  readonly isPatient?: boolean | undefined
  /** Whether a transaction has begun: its work does not run twice. */
  readonly isBegun?: (() => boolean) | undefined
}

function databaseOf(client: Client, saying: Saying): Database {
  const { load, workspace } = saying
  return {
    ...asDb(client, saying),
    transaction: async (work) => {
      let begun = false
      const within = async (tx: Runner): ReturnType<typeof work> => {
        begun = true
        // It goes out with the first statement. If it fails, the driver fails the transaction.
        if (workspace !== undefined)
          tx.unsafe(SAY_WORKSPACE, [workspace], { prepare: true }).then(undefined, () => undefined)
        return work(asDb(tx, { ...saying, workspace: undefined, isPatient: false }))
      }
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the driver unwraps arrays of promises; `work` gives one value
      return sent(() => client.begin(within), { ...saying, isBegun: () => begun }) as ReturnType<typeof work>
    },
    forWorkspace: (workspaceId) => databaseOf(client, { ...saying, workspace: workspaceId }),
    get forSystem() {
      return databaseOf(client, { ...saying, workspace: undefined })
    },
    get patient() {
      return databaseOf(client, { ...saying, isPatient: true })
    },
    listen: async (channel, heard) => {
      await client.listen(channel, heard)
    },
    underWay: () => load.underWay,
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

function asDb(runner: Runner, saying: Saying): Db {
  const { workspace } = saying
  // Without parameters, the driver would send a simple message, which cannot carry the workspace.
  const options = workspace === undefined ? { prepare: true } : { prepare: true, simple: false, workspace }
  const execute = (query: Sql): Promise<object[] & { count: number }> =>
    sent(
      () => {
        const { text, parameters } = render(query)
        return runner.unsafe(text, parameters, options)
      },
      saying,
      saying.isPatient === true && READS.test(query.strings[0] ?? ''),
    )
  return {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the statement names the columns of its row type
    many: async <Row extends object>(query: Sql) => (await execute(query)) as readonly object[] as readonly Row[],
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
    maybe: async <Row extends object>(query: Sql) => (await execute(query))[0] as Row | undefined,
    one: async <Row extends object>(query: Sql) => {
      const [row] = await execute(query)
      if (row === undefined) throw new Error('A statement that always returns a row returned none.')
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
      return row as Row
    },
    run: async (query) => (await execute(query)).count,
  }
}

/** `isRead`: doing it twice is doing it once, so its connection may break. */
function sent<T>(work: () => PromiseLike<T>, saying: Saying, isRead = false): Promise<T> {
  const once = (): Promise<T> => guarded(work, saying)
  const mayRepeat = (error: unknown): boolean =>
    error instanceof DbError && (error.undone || (isRead && error.broken)) && saying.isBegun?.() !== true
  return saying.isPatient === true ? saying.patience(once, mayRepeat) : once()
}

const READS = /^\s*select\s/

async function guarded<T>(work: () => PromiseLike<T>, { answerMs, load }: Saying): Promise<T> {
  const deadline = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => deadline.reject(new DbError(new Error('The database did not respond in time.'), 'NO_ANSWER')),
    answerMs,
  )
  load.underWay += 1
  try {
    return await Promise.race([work(), deadline.promise])
  } catch (error) {
    if (error instanceof Error && 'code' in error && typeof error.code === 'string' && !(error instanceof DbError)) {
      throw new DbError(error, error.code)
    }
    throw error
  } finally {
    load.underWay -= 1
    clearTimeout(timer)
  }
}

const rendered = new WeakMap<readonly string[], string>()

/** The text of a statement without nested fragments is built once per template. */
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

/** A PostgreSQL array literal. Quoting every item is always correct; `null` stays bare. */
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
