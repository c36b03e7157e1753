import { z } from 'zod'
import { PlainPath } from './condition.ts'
import { Headers, ShownHeaders } from './destination-settings.ts'
import { LIMITS } from './limits.ts'
import { Text } from './list.ts'

/** The settings of each kind of source. Connection strings and values of headers are write-only. */

const Column = Text.min(1).max(128)
const Connection = z
  .string()
  .min(1)
  .max(2_048)
  .describe(
    '`postgres://user:password@host:5432/database`, or `mysql://…`. Stored encrypted and never shown. A change may leave it out to keep the stored one. Use a read-only account.',
  )
const Certificates = Text.max(LIMITS.pemCharsMax)

const Tls = z
  .strictObject({
    mode: z.enum(['verify', 'off']).default('verify').describe('`off` only for addresses in OUTBOUND_ALLOW.'),
    ca: Certificates.nullable().default(null).describe('PEM: authorities to trust in addition to the public ones.'),
  })
  .describe('The encryption of the connection.')

const Start = z
  .union([z.enum(['now', 'beginning']), z.strictObject({ value: z.union([Text.max(256), z.number()]) })])
  .describe('Where a new source starts: with new rows, with the first row, or after a value of the cursor column.')

export const PollSeconds = z.int().min(LIMITS.sourcePollSecondsMin).max(LIMITS.sourcePollSecondsMax)

const ofDatabase = {
  tls: Tls.default({ mode: 'verify', ca: null }),
  query: Text.min(1)
    .max(LIMITS.sourceQueryCharsMax)
    .describe('One SELECT, without a semicolon. Its columns are the members of the payload.'),
  cursor_column: Column.describe('A query column whose values only increase, such as an update time or a number.'),
  key_column: Column.nullable()
    .default(null)
    .describe('A unique query column that orders rows with the same cursor value. Null: the cursor is unique.'),
  start: Start.default('now'),
  poll_seconds: PollSeconds.default(LIMITS.sourcePollSecondsDefault),
  batch_limit: z.int().min(1).max(LIMITS.sourceBatchRowsMax).default(LIMITS.sourceBatchRowsDefault),
  lag_seconds: z
    .int()
    .min(0)
    .max(LIMITS.sourceLagSecondsMax)
    .default(LIMITS.sourceLagSecondsDefault)
    .describe(
      'A row is read when it has been visible for this long, so that a row that is committed late is not missed.',
    ),
}

export const DATABASE_KINDS = ['postgres', 'mysql'] as const
export type DatabaseKind = (typeof DATABASE_KINDS)[number]

const Postgres = z.strictObject({ kind: z.literal('postgres'), connection: Connection.optional(), ...ofDatabase })
const MySql = z.strictObject({ kind: z.literal('mysql'), connection: Connection.optional(), ...ofDatabase })

const Table = Text.min(1)
  .max(LIMITS.sourceTableCharsMax)
  .regex(/^[^.\0]+(?:\.[^.\0]+)?$/, 'Write schema.table, or the name of a table in the schema public.')
export const CHANGE_OPERATIONS = ['insert', 'update', 'delete', 'truncate'] as const
export type ChangeOperation = (typeof CHANGE_OPERATIONS)[number]

const ofReplication = {
  tls: Tls.default({ mode: 'verify', ca: null }),
  tables: z
    .array(Table)
    .min(1)
    .max(LIMITS.sourceTablesMax)
    .nullable()
    .default(null)
    .describe(
      'The tables whose changes become events, such as `public.orders`. Postroad makes a publication of them. Null: `publication` names one.',
    ),
  publication: Text.regex(/^[A-Za-z_][A-Za-z0-9_]{0,62}$/, 'Use letters, digits and underscores.')
    .nullable()
    .default(null)
    .describe('An existing publication, which Postroad does not change. Null: Postroad makes one of `tables`.'),
  slot: Text.regex(/^[a-z0-9_]{1,63}$/, 'Use lower-case letters, digits and underscores.')
    .nullable()
    .default(null)
    .describe(
      'An existing replication slot of the plugin pgoutput, which Postroad does not drop. Null: Postroad creates one, and drops it with the source.',
    ),
  operations: z
    .array(z.enum(CHANGE_OPERATIONS))
    .min(1)
    .default(['insert', 'update', 'delete'])
    .describe('The changes that become events.'),
  snapshot: z
    .boolean()
    .default(false)
    .describe(
      'true: when the source starts or restarts, each existing row of the tables first becomes an event with the operation `snapshot`, and the changes after it follow. Each table needs a primary key.',
    ),
}
const PostgresReplication = z.strictObject({
  kind: z.literal('postgres_replication'),
  connection: Connection.optional(),
  ...ofReplication,
})

const Url = Text.min(1).max(2_048).describe('https, or http to an address in OUTBOUND_ALLOW.')
const Name = Text.min(1).max(128)

const ofHttpPoll = {
  url: Url,
  poll_seconds: PollSeconds.default(LIMITS.sourcePollSecondsDefault),
  items_path: PlainPath.nullable()
    .default(null)
    .describe(
      'Where the list of items is in the response; each becomes an event. Null: the response itself is the list, or the only item.',
    ),
  key_path: PlainPath.nullable()
    .default(null)
    .describe(
      'Where the id of an item is. An item with the same id is filed once in 7 days. Null: every item is filed.',
    ),
  cursor: z
    .strictObject({
      path: PlainPath.describe('Where the cursor of the next request is.'),
      from: z.enum(['response', 'last_item']).default('response').describe('In the response, or in its last item.'),
      send_in: z.enum(['query', 'header']).default('query'),
      send_as: Name.describe('The name of the query parameter or of the header.'),
      start: Text.max(1_024).nullable().default(null).describe('The cursor of the first request; null: it has none.'),
    })
    .nullable()
    .default(null)
    .describe('The place of the cursor in the next request; null: every request is the same.'),
}
const ofSse = {
  url: Url,
  events: z.array(Name).min(1).max(50).nullable().default(null).describe('The names of the events to file; null: all.'),
}
const HttpPoll = z.strictObject({ kind: z.literal('http_poll'), headers: Headers.default({}), ...ofHttpPoll })
const Sse = z.strictObject({ kind: z.literal('sse'), headers: Headers.default({}), ...ofSse })

export const SOURCE_KINDS = [...DATABASE_KINDS, 'postgres_replication', 'http_poll', 'sse'] as const
export type SourceKind = (typeof SOURCE_KINDS)[number]

export const SourceSettings = z.discriminatedUnion('kind', [Postgres, MySql, PostgresReplication, HttpPoll, Sse])
export type SourceSettings = z.output<typeof SourceSettings>

const Place = z
  .object({ host: z.string(), port: z.int(), database: z.string(), user: z.string() })
  .describe('The parts of the connection string that are not secret.')

const ShownDatabase = { connection: Place, ...ofDatabase }
export const ShownSourceSettings = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('postgres'), ...ShownDatabase }),
  z.object({ kind: z.literal('mysql'), ...ShownDatabase }),
  z.object({ kind: z.literal('postgres_replication'), connection: Place, ...ofReplication }),
  z.object({ kind: z.literal('http_poll'), headers: ShownHeaders, ...ofHttpPoll }),
  z.object({ kind: z.literal('sse'), headers: ShownHeaders, ...ofSse }),
])
