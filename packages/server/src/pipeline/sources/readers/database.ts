import { LIMITS, type SourceSettings } from '@postroad/contract'
import type { Deps } from '../../../context.ts'
import { databasePlace } from './place.ts'
import type { ReadAsked, ReadResult } from './types.ts'
import type { Bound, DatabaseReader, ReadDatabase } from '../../../platform/foreign-databases/types.ts'

export type DatabaseSettings = Extract<SourceSettings, { kind: 'postgres' | 'mysql' }>

/** The last row that is stored, and the newest row that was seen. */
type KeysetPosition = {
  /** Null: nothing has been read, so the read starts at the first row. */
  readonly after: Bound | null
  /**
   * For a cursor that is not a time: the newest row at the last look, and the time of the look. Rows up to it are read
   * once that is `lag_seconds` ago. Null: the next read looks for it.
   */
  readonly seen: (Bound & { readonly at: number }) | null
}

/** A driver is loaded with the first source that uses it. */
const READERS: Readonly<Record<DatabaseSettings['kind'], () => Promise<ReadDatabase>>> = {
  postgres: async () => (await import('../../../platform/foreign-databases/postgres.ts')).readPostgres,
  mysql: async () => (await import('../../../platform/foreign-databases/mysql.ts')).readMysql,
}

/** Reads the rows after the position, in the order of the cursor and the key. */
export async function readDatabaseSource(
  { reach, clock }: Pick<Deps, 'reach' | 'clock'>,
  asked: ReadAsked & { readonly settings: DatabaseSettings },
): Promise<ReadResult> {
  const { settings, signal, rowBytesMax } = asked
  const { kind, query, cursor_column: cursorColumn, key_column: keyColumn } = settings
  const read = await READERS[kind]()
  return read(
    {
      reach,
      place: databasePlace({ kind, tls: settings.tls, connection: asked.secret.connection }),
      of: { query, cursorColumn, keyColumn },
      bytesMax: LIMITS.sourceBatchBytesMax,
      rowBytesMax,
      signal,
    },
    async (reader) => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- this file wrote it
      const held = asked.position as KeysetPosition | null
      const from = held ?? (await beginning(reader, settings))
      return (await reader.isTime())
        ? byTime(reader, { ...asked, from })
        : bySeen(reader, { ...asked, from, now: clock.now() })
    },
  )
}

async function beginning(reader: DatabaseReader, { start }: DatabaseSettings): Promise<KeysetPosition> {
  if (start === 'beginning') return { after: null, seen: null }
  if (start === 'now') return { after: await reader.newest(), seen: null }
  // Rows with exactly this cursor are left out: no key is greater than null.
  return { after: { cursor: String(start.value), key: null }, seen: null }
}

type From = ReadAsked & { readonly settings: DatabaseSettings; readonly from: KeysetPosition }

/** The cursor is a time: the database leaves out rows that are younger than the lag. */
async function byTime(reader: DatabaseReader, { from, settings, itemsMax }: From): Promise<ReadResult> {
  const { rows, more } = await reader.rows({
    after: from.after,
    upTo: null,
    lagSeconds: settings.lag_seconds,
    limit: itemsMax,
  })
  const last = rows.at(-1)
  return {
    items: rows.map(({ json }) => ({ text: json, key: null })),
    position: { after: last === undefined ? from.after : boundOf(last), seen: null } satisfies KeysetPosition,
    againInMs: more ? 0 : undefined,
  }
}

/**
 * The cursor is a number or a text, so it cannot be compared with the clock. Rows up to the newest one are read when
 * that one was seen `lag_seconds` ago: a transaction that took an earlier number has ended by then.
 */
async function bySeen(
  reader: DatabaseReader,
  { from, settings, itemsMax, now }: From & { readonly now: number },
): Promise<ReadResult> {
  const lagMs = settings.lag_seconds * 1_000
  const seen = from.seen ?? (await lookAhead(reader, now))
  if (seen === null || isSameBound(seen, from.after))
    return { items: [], position: { after: from.after, seen: null } satisfies KeysetPosition, againInMs: undefined }
  const leftMs = seen.at + lagMs - now
  if (leftMs > 0)
    return { items: [], position: { after: from.after, seen } satisfies KeysetPosition, againInMs: leftMs }
  const upTo = { cursor: seen.cursor, key: seen.key }
  const { rows, more } = await reader.rows({ after: from.after, upTo, lagSeconds: 0, limit: itemsMax })
  const last = rows.at(-1)
  return {
    items: rows.map(({ json }) => ({ text: json, key: null })),
    position: {
      after: last === undefined ? from.after : boundOf(last),
      seen: more ? seen : null,
    } satisfies KeysetPosition,
    againInMs: more ? 0 : undefined,
  }
}

async function lookAhead(reader: DatabaseReader, now: number): Promise<KeysetPosition['seen']> {
  const newest = await reader.newest()
  return newest === null ? null : { ...newest, at: now }
}

const boundOf = ({ cursor, key }: Bound): Bound => ({ cursor, key })

const isSameBound = (a: Bound | null, b: Bound | null): boolean => a?.cursor === b?.cursor && a?.key === b?.key
