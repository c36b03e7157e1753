import { appendFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openDatabase, sql, type DatabaseTarget } from '../../src/platform/db.ts'
import { SUPERUSER } from '../../src/platform/postgres/access.ts'
import { placeOf, PORT } from '../../src/platform/postgres/place.ts'
import { postmasterOf } from '../../src/platform/postgres/postmaster.ts'

/**
 * The superuser of a running embedded PostgreSQL, for tests that create databases there or bypass the product. The
 * product has no such access: a user who owns the files can let themselves in, until the next start writes the files
 * again.
 */
export async function superuserOf(dataDir: string): Promise<DatabaseTarget> {
  const { folder, socketDir } = placeOf(dataDir)
  appendFileSync(join(folder, 'pg_hba.conf'), 'local all all peer map=everyone\n')
  appendFileSync(join(folder, 'pg_ident.conf'), `everyone "${userInfo().username}" all\n`)
  process.kill(postmasterOf(folder)?.pid ?? 0, 'SIGHUP')
  const target = { host: socketDir, port: PORT, database: 'postroad', username: SUPERUSER }
  for (let tries = 200; ; tries -= 1) {
    const database = openDatabase({ target, connectionsMax: 1, applicationName: 'way in', statementTimeoutMs: 20_000 })
    try {
      await database.one(sql`select 1 as one`)
      return target
    } catch (error) {
      // PostgreSQL reads the files a moment after the signal.
      if (tries === 0) throw error
      await sleep(10)
    } finally {
      await database.close()
    }
  }
}
