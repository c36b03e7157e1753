import { randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from './config.ts'
import { createCipher, type Cipher } from './platform/cipher.ts'
import type { Database, DatabaseTarget } from './platform/db.ts'
import { openEmbeddedPostgres, StartError } from './platform/embedded-postgres.ts'
import type { Log } from './platform/log.ts'
import { serverVersion, unsafeSettings } from './platform/server-facts.ts'

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

/** A 201 means durable only when PostgreSQL is set to be: says loudly which setting breaks the promise. Gives those settings. */
export async function checkDurability(database: Database, log: Log): Promise<readonly string[]> {
  const unsafe = await unsafeSettings(database)
  for (const setting of unsafe) {
    log.error('postgres.not_durable', { setting, meaning: 'Events answered 201 can be lost. Set it to on.' })
  }
  return unsafe
}

const VERSION_MIN = 150_000

/** One clear line for a PostgreSQL that cannot be used at all. */
export async function checkReachable(database: Database): Promise<void> {
  const version = await serverVersion(database).catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error)
    throw new StartError(`The PostgreSQL of DATABASE_URL cannot be used: ${why}. Check the host, port, user, password and database in it.`, { cause: error })
  })
  if (version < VERSION_MIN) throw new StartError(`The PostgreSQL of DATABASE_URL is version ${Math.floor(version / 10_000)}; Postroad needs 15 or newer.`)
}
