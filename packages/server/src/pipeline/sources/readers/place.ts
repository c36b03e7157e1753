import type { DatabaseKind } from '@postroad/contract'
import { readConnection } from '../../../domain/sources/connection.ts'
import type { DatabasePlace } from '../../../platform/foreign-databases/types.ts'
import { ForeignFailure } from '../../../platform/foreign-failure.ts'

/** The place of a database by its stored connection string. */
export function databasePlace({
  kind,
  tls,
  connection: text = '',
}: {
  kind: DatabaseKind
  tls: DatabasePlace['tls']
  connection: string | undefined
}): DatabasePlace {
  const connection = readConnection(kind, text)
  if (typeof connection === 'string') throw new ForeignFailure('invalid_connection', connection)
  return { ...connection, tls }
}
