import { ForeignFailure } from '../foreign-failure.ts'
import { Breach } from '../guarded/breach.ts'

/**
 * The error of a database or of a connection, as the project may see it. Messages of databases name columns, types and users,
 * which belong to the owner of the source; none contains the password.
 */
export function failureOf(error: unknown): Error {
  if (error instanceof ForeignFailure || !(error instanceof Error)) return asError(error)
  if (error instanceof Breach) return new ForeignFailure(error.code, error.message)
  const code = 'code' in error ? String(error.code) : ''
  const known = KNOWN.find(({ codes }) => codes.test(code))
  const said = error.message.split('\n')[0]?.slice(0, SAID_CHARS_MAX) ?? ''
  if (known !== undefined) return new ForeignFailure(known.reason, `${known.text} The database says: ${said}`)
  if (/timeout/i.test(error.message))
    return new ForeignFailure(
      'timeout',
      'The database did not respond in time. Add an index for the cursor, or read fewer rows.',
    )
  if (/certificate|TLS|SSL|self.signed/i.test(`${code} ${error.message}`))
    return new ForeignFailure(
      'tls_failed',
      `The encrypted connection failed: ${said}. If the database has its own certificate authority, set tls.ca.`,
    )
  if (/^[0-9A-Z]{5}$/.test(code) || code.startsWith('ER_'))
    return new ForeignFailure('query_failed', `The database refused the query: ${said}`)
  return new ForeignFailure('connection_reset', `The connection to the database failed: ${said}`)
}

const SAID_CHARS_MAX = 300

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)))

// PostgreSQL's SQLSTATE, and the names of MySQL and MariaDB.
const KNOWN = [
  {
    codes: /^(?:28\w{3}|ER_ACCESS_DENIED_ERROR|ER_DBACCESS_DENIED_ERROR)$/,
    reason: 'access_denied',
    text: 'The database rejected this user. Check the username and password.',
  },
  {
    codes: /^(?:3D000|ER_BAD_DB_ERROR)$/,
    reason: 'query_failed',
    text: 'The database does not exist. Correct its name in the connection string.',
  },
  {
    codes: /^(?:57014|ER_STATEMENT_TIMEOUT|ER_QUERY_TIMEOUT|PROTOCOL_SEQUENCE_TIMEOUT)$/,
    reason: 'timeout',
    text: 'The query took too long. Add an index for the cursor, or read fewer rows.',
  },
  {
    codes: /^(?:42501|25006|ER_TABLEACCESS_DENIED_ERROR|ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION)$/,
    reason: 'query_failed',
    text: 'The user does not have permission to run this query.',
  },
]
