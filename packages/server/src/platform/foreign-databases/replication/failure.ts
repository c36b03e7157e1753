import { ForeignFailure } from '../../foreign-failure.ts'
import { failureOf } from '../failure.ts'

const SAID_CHARS_MAX = 300

/** The error of a replication, as the project may see it. */
export function replicationFailure(error: unknown): Error {
  if (error instanceof ForeignFailure || !(error instanceof Error)) return failureOf(error)
  const code = 'code' in error ? String(error.code) : ''
  const said = error.message.split('\n')[0]?.slice(0, SAID_CHARS_MAX) ?? ''
  const known = KNOWN.find(({ codes, says }) => codes.test(code) && says.test(error.message))
  return known === undefined
    ? failureOf(error)
    : new ForeignFailure(known.reason, `${known.text} The database says: ${said}`)
}

// PostgreSQL's SQLSTATE, and a part of its message where one code means several things.
const KNOWN = [
  {
    codes: /^42501$/,
    says: /^/,
    reason: 'access_denied',
    text: 'The user lacks a privilege for logical replication. It needs the attribute REPLICATION (alter role … replication; a managed database has a role for this). For a publication that Postroad creates, it must also own the tables and have CREATE on the database.',
  },
  {
    codes: /^28\w{3}$/,
    says: /replication/i,
    reason: 'access_denied',
    text: 'The database accepts this user, but not for replication. Give the user the REPLICATION attribute, and allow the connection in pg_hba.conf.',
  },
  {
    codes: /^55006$/,
    says: /^/,
    reason: 'slot_busy',
    text: 'Another connection uses the replication slot. The database ends the connection of a dead process after wal_sender_timeout; if another program reads this slot, give it a separate one.',
  },
  {
    codes: /^53400$/,
    says: /^/,
    reason: 'too_many_slots',
    text: 'All replication slots of the database are in use. Drop one that nobody needs, or raise max_replication_slots.',
  },
  {
    codes: /^53300$/,
    says: /^/,
    reason: 'too_many_connections',
    text: 'The database accepts no more replication connections. Raise max_wal_senders.',
  },
  {
    codes: /^57014$/,
    says: /^/,
    reason: 'timeout',
    text: 'The replication slot could not be created in time, because a long-running transaction is open. End that transaction.',
  },
  {
    codes: /^55000$/,
    says: /wal_level/,
    reason: 'wal_level',
    text: 'The database writes no WAL for logical replication. Set wal_level = logical and restart it.',
  },
  {
    codes: /^55000$/,
    says: /slot/,
    reason: 'slot_lost',
    text: 'The replication slot can no longer be read, so changes after the position are lost here. Copy what you need from the tables, then send restart: true.',
  },
] as const
