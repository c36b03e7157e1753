import { randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from './config.ts'
import { createCipher, type Cipher } from './platform/cipher.ts'
import type { Database, DatabaseTarget } from './platform/db.ts'
import { sql } from './platform/db.ts'
import { openEmbeddedPostgres, StartError } from './platform/embedded-postgres.ts'
import type { Log } from './platform/log.ts'

/** Where the data is, and the key that seals what is secret in it. */
export type Storage = { readonly target: DatabaseTarget; readonly cipher: Cipher; stop(): Promise<void> }

/**
 * Your PostgreSQL when `DATABASE_URL` names one, else the embedded one in `DATA_DIR`. `own`: the server's use;
 * `join`: a command beside a running server. A StartError is one line that says what to do.
 */
export async function openStorage(config: Config, options: { mode: 'own' | 'join'; log: Log }): Promise<Storage> {
  if (config.DATABASE_URL !== undefined && config.SECRET_KEY !== undefined) {
    const target = { url: config.DATABASE_URL.reveal() }
    return { target, cipher: createCipher(keysOf(config, Buffer.from(config.SECRET_KEY.reveal(), 'base64'))), stop: () => Promise.resolve() }
  }
  const postgres = await openEmbeddedPostgres({
    dataDir: config.DATA_DIR,
    mode: options.mode,
    log: (line) => options.log.debug('postgres.said', { line }),
  })
  postgres.onExit((line) => options.log.error('postgres.exited', { line }))
  const key = config.SECRET_KEY === undefined ? await keyInFolder(config.DATA_DIR) : Buffer.from(config.SECRET_KEY.reveal(), 'base64')
  return { target: postgres.connection, cipher: createCipher(keysOf(config, key)), stop: () => postgres.stop() }
}

function keysOf(config: Config, newest: Buffer): [Buffer, ...Buffer[]] {
  const { SECRET_KEY_PREVIOUS: previous } = config
  return previous === undefined ? [newest] : [newest, Buffer.from(previous.reveal(), 'base64')]
}

/** Made once, mode 0600. Whoever loses it loses the sealed secrets, so it lies beside the data that it seals. */
async function keyInFolder(folder: string): Promise<Buffer> {
  const path = join(folder, 'secret-key')
  await mkdir(folder, { recursive: true })
  try {
    await writeFile(path, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
  const key = Buffer.from((await readFile(path, 'utf8')).trim(), 'base64')
  if (key.length !== 32) throw new StartError(`${path} does not hold 32 bytes in base64. Restore it from a backup; without it sealed secrets cannot be read.`)
  return key
}

const DURABLE = { fsync: ['on'], full_page_writes: ['on'], synchronous_commit: ['on', 'remote_apply', 'remote_write', 'local'] } as const

/** A 201 means durable only when PostgreSQL is set to be: says loudly which setting breaks the promise. Gives those settings. */
export async function checkDurability(database: Database, log: Log): Promise<readonly string[]> {
  const rows = await database.many<{ name: string; setting: string }>(sql`
    select name, setting
      from pg_settings
     where name in ('fsync', 'full_page_writes', 'synchronous_commit')
  `)
  const broken = rows.filter(({ name, setting }) => name in DURABLE && !Object.entries(DURABLE).some(([key, ok]) => key === name && ok.some((value) => value === setting)))
  for (const { name, setting } of broken) {
    log.error('postgres.not_durable', { setting: `${name}=${setting}`, meaning: 'Events answered 201 can be lost. Set it to on.' })
  }
  return broken.map(({ name, setting }) => `${name}=${setting}`)
}

const VERSION_MIN = 150_000

/** One clear line for a PostgreSQL that cannot be used at all. */
export async function checkReachable(database: Database): Promise<void> {
  try {
    const { version } = await database.one<{ version: number }>(sql`select current_setting('server_version_num')::int as version`)
    if (version < VERSION_MIN) throw new StartError(`The PostgreSQL of DATABASE_URL is version ${Math.floor(version / 10_000)}; Postroad needs 15 or newer.`)
  } catch (error) {
    if (error instanceof StartError) throw error
    const why = error instanceof Error ? error.message : String(error)
    throw new StartError(`The PostgreSQL of DATABASE_URL cannot be used: ${why}. Check the host, port, user, password and database in it.`, { cause: error })
  }
}
