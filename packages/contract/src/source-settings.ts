import { z } from 'zod'
import { LIMITS } from './limits.ts'
import { Text } from './list.ts'

/** The settings of each kind of source. Connection strings and values of headers go in, and never come out. */

const Column = Text.min(1).max(128)
const Connection = z
  .string()
  .min(1)
  .max(2_048)
  .describe(
    '`postgres://user:password@host:5432/database`, or `mysql://…`. Stored encrypted and never shown. A change may leave it out to keep the stored one. Use an account that may only read.',
  )
const Certificates = Text.max(LIMITS.pemCharsMax)

const Tls = z
  .strictObject({
    mode: z.enum(['verify', 'off']).default('verify').describe('`off` only for addresses in OUTBOUND_ALLOW.'),
    ca: Certificates.nullable().default(null).describe('PEM: authorities to trust in addition to the public ones.'),
  })
  .describe('How the connection is encrypted.')

const Start = z
  .union([z.enum(['now', 'beginning']), z.strictObject({ value: z.union([z.string().max(256), z.number()]) })])
  .describe('Where a new source begins: with the rows after now, with the first row, or after a value of the cursor column.')

export const PollSeconds = z.int().min(LIMITS.sourcePollSecondsMin).max(LIMITS.sourcePollSecondsMax)

const ofDatabase = {
  tls: Tls.default({ mode: 'verify', ca: null }),
  query: Text.min(1)
    .max(LIMITS.sourceQueryCharsMax)
    .describe('One SELECT, without a semicolon. Its columns are the members of the payload.'),
  cursor_column: Column.describe('A column of the query that only grows: an update time or an increasing number.'),
  key_column: Column.nullable()
    .default(null)
    .describe('A unique column of the query, which orders rows with an equal cursor. Null: the cursor is unique.'),
  start: Start.default('now'),
  poll_seconds: PollSeconds.default(LIMITS.sourcePollSecondsDefault),
  batch_limit: z.int().min(1).max(LIMITS.sourceBatchRowsMax).default(LIMITS.sourceBatchRowsDefault),
  lag_seconds: z
    .int()
    .min(0)
    .max(LIMITS.sourceLagSecondsMax)
    .default(LIMITS.sourceLagSecondsDefault)
    .describe('A row is read when it has been visible for this long, so that a row that is committed late is not missed.'),
}

export const DATABASE_KINDS = ['postgres', 'mysql'] as const
export type DatabaseKind = (typeof DATABASE_KINDS)[number]

const Postgres = z.strictObject({ kind: z.literal('postgres'), connection: Connection.optional(), ...ofDatabase })
const MySql = z.strictObject({ kind: z.literal('mysql'), connection: Connection.optional(), ...ofDatabase })

export const SOURCE_KINDS = [...DATABASE_KINDS] as const
export type SourceKind = (typeof SOURCE_KINDS)[number]

export const SourceSettings = z.discriminatedUnion('kind', [Postgres, MySql])
export type SourceSettings = z.output<typeof SourceSettings>

const Place = z
  .object({ host: z.string(), port: z.int(), database: z.string(), user: z.string() })
  .describe('The parts of the connection string that are no secret.')

const ShownDatabase = { connection: Place, ...ofDatabase }
export const ShownSourceSettings = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('postgres'), ...ShownDatabase }),
  z.object({ kind: z.literal('mysql'), ...ShownDatabase }),
])
