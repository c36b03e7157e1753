import { readdir, readFile } from 'node:fs/promises'
import { openClient, sql, type DatabaseTarget, type Db } from './db.ts'
import { StartError } from './postgres/start-error.ts'
import { SECURE_TABLES } from './row-security.ts'

const MIGRATION_LOCK = 4_680_001

/**
 * Runs the numbered files of `migrations/` that have not run yet, each in its own transaction, under a lock so that nodes that
 * start together run them once. Forward only: the database of a newer release is a StartError, and nothing changes. Then gives
 * every tenant table its policy, including new tables. Returns the names of the files that it ran.
 */
export async function migrate(target: DatabaseTarget, folder: URL): Promise<readonly string[]> {
  const settings = {
    max: 1,
    onnotice: () => undefined,
    connect_timeout: 10,
    connection: { application_name: 'postroad migrate' },
  }
  const client = openClient(target, settings)
  try {
    await client`select pg_advisory_lock(${MIGRATION_LOCK})`
    await client`create table if not exists migrations (name text primary key, ran_at timestamptz not null default now())`
    const done = await client<{ name: string }[]>`select name from migrations`
    const due = dueOf(await namesIn(folder), done)
    for (const name of due) {
      const text = await readFile(new URL(name, folder), 'utf8')
      await client.begin(async (tx) => {
        await tx.unsafe(text)
        await tx`insert into migrations (name) values (${name})`
      })
    }
    await client.unsafe(SECURE_TABLES)
    return due
  } finally {
    await client.end({ timeout: 5 })
  }
}

/** The files of `migrations/` that have not run on this database. Changes nothing. StartError for the database of a newer release. */
export async function findDueMigrations(db: Db, folder: URL): Promise<readonly string[]> {
  const { exists } = await db.one<{ exists: boolean }>(sql`select to_regclass('migrations') is not null as exists`)
  return dueOf(await namesIn(folder), exists ? await db.many<{ name: string }>(sql`select name from migrations`) : [])
}

/** A release cannot know what the tables of a newer one mean, so it must not write to them. */
function dueOf(names: readonly string[], done: readonly { readonly name: string }[]): readonly string[] {
  const ran = new Set(done.map(({ name }) => name))
  const newer = [...ran].filter((name) => !names.includes(name)).toSorted()
  if (newer.length === 0) return names.filter((name) => !ran.has(name))
  const count = newer.length === 1 ? '1 migration' : `${newer.length} migrations`
  throw new StartError(
    `The database is of a newer release (${count} that this one does not have, from ${newer[0]}). ` +
      'Start that release or a newer one, or restore a backup from before the update.',
  )
}

async function namesIn(folder: URL): Promise<readonly string[]> {
  return (await readdir(folder)).filter((name) => /^\d{4}_\w+\.sql$/.test(name)).toSorted()
}
