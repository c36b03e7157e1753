import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase, type Database, type DatabaseTarget } from '../../src/platform/db.ts'
import { openEmbeddedPostgres } from '../../src/platform/embedded-postgres.ts'
import { superuserOf } from './superuser.ts'

/** A foreign PostgreSQL that writes WAL for logical replication. */
export type LogicalPostgres = {
  readonly folder: string
  readonly target: DatabaseTarget
  readonly database: Database
  stop(): Promise<void>
}

export async function aLogicalPostgres(settings: Readonly<Record<string, string>> = {}): Promise<LogicalPostgres> {
  const folder = await mkdtemp(join(tmpdir(), 'postroad-logical-'))
  const postgres = await openEmbeddedPostgres({
    dataDir: folder,
    mode: 'own',
    settings: { wal_level: 'logical', max_replication_slots: '30', max_wal_senders: '30', ...settings },
  })
  const target = await superuserOf(folder)
  const database = openDatabase({ target, connectionsMax: 4, applicationName: 'shop', statementTimeoutMs: 60_000 })
  return {
    folder,
    target,
    database,
    stop: async () => {
      await database.close()
      await postgres.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
