// Sockets and host names; PostgreSQL's classes 08 and 53; shutting down, starting, canceled, timed out, locked, read-only, no
// database.
const UNAVAILABLE = /^(?:CONNECT_TIMEOUT|E[A-Z_]+|08...|53...|57P0\d|57014|55P03|40001|40P01|25006|3D000)$/
// No socket, no address, no connection in time; PostgreSQL stops, or does not yet accept connections.
const UNDONE = new Set([
  'ECONNREFUSED',
  'ENOENT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'CONNECT_TIMEOUT',
  '57P01',
  '57P03',
])
/** The connection broke while the answer was due. */
const BROKEN = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_DESTROYED',
  'CONNECTION_ENDED',
  'ECONNRESET',
  'EPIPE',
  // Another backend crashed, and this one ended at any instruction.
  '57P02',
])

/**
 * An error of the database. `refused`: certainly not committed. `unknown`: the connection broke, or no answer came in
 * time, so the statement may have been committed.
 */
export class DbError extends Error {
  readonly outcome: 'refused' | 'unknown'
  /** The database is away, busy or read-only at the moment: the same statement may work soon. */
  readonly unavailable: boolean
  /** The database is away, and the statement has done nothing and will do nothing: it was not sent, or PostgreSQL stopped and ended it. */
  readonly undone: boolean
  /** The connection broke while the answer was due. */
  readonly broken: boolean
  readonly code: string
  readonly constraint: string | undefined

  constructor(cause: Error, code: string) {
    super(cause.message, { cause })
    this.name = 'DbError'
    this.code = code
    this.constraint = 'constraint_name' in cause ? String(cause.constraint_name) : undefined
    this.broken = BROKEN.has(this.code)
    this.outcome = this.broken || this.code === 'NO_ANSWER' ? 'unknown' : 'refused'
    this.unavailable = this.outcome === 'unknown' || UNAVAILABLE.test(this.code)
    this.undone = UNDONE.has(this.code)
  }
}
