import type { DatabaseKind } from '@postroad/contract'

/** The place of a database, and the user that reads it. `password` is secret. */
export type Connection = {
  readonly host: string
  readonly port: number
  readonly database: string
  readonly user: string
  readonly password: string
}

const SCHEMES: Readonly<Record<DatabaseKind, readonly string[]>> = {
  postgres: ['postgres:', 'postgresql:'],
  mysql: ['mysql:', 'mariadb:'],
}
const PORTS: Readonly<Record<DatabaseKind, number>> = { postgres: 5_432, mysql: 3_306 }

/**
 * A connection string → its parts, or a sentence with its fault. Options in its query are refused, because they could
 * bypass the checks of the address and of the encryption. The sentence never contains a part of the string.
 */
export function readConnection(kind: DatabaseKind, text: string): Connection | string {
  const url = URL.parse(text)
  const example = `Write it like ${kind}://user:password@host:${PORTS[kind]}/database.`
  if (url === null || !SCHEMES[kind].includes(url.protocol) || url.hostname === '')
    return `settings.connection is not a connection string of this kind. ${example}`
  if (url.search !== '' || url.hash !== '')
    return `settings.connection: options after "?" are not supported; leave them out, and set tls. ${example}`
  const [user, password, database] = [url.username, url.password, url.pathname.slice(1)].map(decoded)
  if (user === undefined || password === undefined || database === undefined)
    return `settings.connection cannot be decoded; write special characters as %XX. ${example}`
  if (user === '' || !/^[^/]+$/.test(database))
    return `settings.connection: the user or the database is missing. ${example}`
  const host = url.hostname.replace(/^\[|\]$/g, '')
  return { host, port: Number(url.port || PORTS[kind]), database, user, password }
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** The reason why a query cannot be saved; undefined: it can. The database has the last word. */
export function validateQuery(query: string): string | undefined {
  if (!/^\s*(?:select|with|table|values)\b/i.test(query))
    return 'settings.query must be a SELECT statement. Other statements change data.'
  if (/;\s*$/.test(query)) return 'settings.query: remove the semicolon at the end.'
  return undefined
}
