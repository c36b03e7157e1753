import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { boot } from '../boot.ts'
import { createCipher } from '../platform/cipher.ts'
import { openDatabase, type Database } from '../platform/db.ts'
import type { KeyFile } from '../platform/key-file.ts'
import { databaseNow } from '../platform/server-facts.ts'
import { countSealed, countTransactionsSince, lockKeyFile, resealAll } from '../resources/operate/key-ring/index.ts'
import type { Storage } from '../storage.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** What `rotate-key --json` prints. */
type Outcome = {
  /** Every value is sealed by the newest key, and the former one of the key file is gone. */
  readonly ok: boolean
  readonly key_id: string
  readonly resealed: number
  readonly total: number
  readonly waiting: number
  readonly unreadable: readonly string[]
  /** Whether a former key was taken out of the key file; null when the keys are the environment's. */
  readonly former_key_removed: boolean | null
}

const USAGE_CODE = 2
const SETTLE_MS = 60_000
const LOOK_MS = 100

const toTerminal = (line: string): void => void process.stderr.write(`${line}\n`)

/**
 * `rotate-key [--json]`: seals every secret of the database by the newest key. Works beside running servers, may be killed
 * at any moment and run again. With the keys of the environment the newest is `SECRET_KEY`; with the key file of the data
 * folder this makes a new one and takes the former one away when nothing needs it. Gives 0 when all is done, else 1.
 */
export async function rotateKeyCommand(environment: Environment, flags: readonly string[]): Promise<number> {
  const json = flags.includes('--json')
  if (flags.some((flag) => flag !== '--json')) {
    process.stderr.write('postroad: This takes no argument but --json.\n')
    return USAGE_CODE
  }
  const { app, storage } = await boot(
    { LOG_LEVEL: 'warn', ...environment, ROLES: 'web' },
    { mode: 'join', makes: false },
  )
  const database = openDatabase({
    target: storage.target,
    connectionsMax: 2,
    applicationName: 'postroad rotate-key',
    statementTimeoutMs: 600_000,
  })
  try {
    const outcome = await rotateKey(database, { ...storage, say: toTerminal })
    process.stdout.write(json ? `${JSON.stringify(outcome)}\n` : report(outcome, environment))
    return outcome.ok ? 0 : 1
  } finally {
    await database.close()
    await app.stop()
    await storage.stop()
  }
}

/** `say` hears how far it is. */
type Sealed = Pick<Storage, 'cipher' | 'keyFile'> & { readonly say?: (line: string) => void }

/**
 * The order is what makes a kill harmless: first both keys are on the disk, then values move from the one to the other, and
 * the former goes last, when no value has it and no transaction is under way that may yet bring one.
 */
export async function rotateKey(database: Database, storage: Sealed): Promise<Outcome> {
  const { keyFile, cipher, say } = storage
  if (keyFile !== undefined) await addKey(database, keyFile)
  const since = new Date(await databaseNow(database))
  const { waiting: due } = await countSealed(database, cipher)
  let told = 0
  const progress = (count: number): void => {
    if (count > told) say?.(`sealed ${count} of ${due}`)
    told = count
  }
  const first = await resealAll({ db: database, cipher, progress })
  const settled = keyFile === undefined || (await settle(database, since))
  const last = await resealAll({ db: database, cipher, progress: () => undefined })
  const removed = keyFile !== undefined && settled && (await removeFormer(database, keyFile))
  const { total, waiting } = await countSealed(database, cipher)
  return {
    ok: waiting === 0 && (keyFile === undefined || removed),
    key_id: cipher.keyIds()[0],
    resealed: first.resealed + last.resealed,
    total,
    waiting,
    unreadable: [...new Set([...first.unreadable, ...last.unreadable])],
    former_key_removed: keyFile === undefined ? null : removed,
  }
}

/** A file that holds two keys is a rotation that was broken off: that one is finished, and no third key is made. */
function addKey(database: Database, keyFile: KeyFile): Promise<void> {
  return database.transaction(async (tx) => {
    await lockKeyFile(tx)
    const keys = keyFile.keys()
    if (keys.length === 1) keyFile.replace([randomBytes(32), ...keys])
  })
}

/** Waits for the transactions that may have sealed by the former key; servers seal by the newest from the moment it is there. */
async function settle(database: Database, since: Date): Promise<boolean> {
  const until = performance.now() + SETTLE_MS
  while (performance.now() < until) {
    // oxlint-disable-next-line no-await-in-loop -- one look at a time
    if ((await countTransactionsSince(database, since)) === 0) return true
    // oxlint-disable-next-line no-await-in-loop -- as above
    await sleep(LOOK_MS)
  }
  return false
}

/** By what the file says under the lock, whatever anybody has held before. */
function removeFormer(database: Database, keyFile: KeyFile): Promise<boolean> {
  return database.transaction(async (tx) => {
    await lockKeyFile(tx)
    const [newest, ...former] = keyFile.keys()
    if ((await countSealed(tx, createCipher([newest]))).waiting > 0) return false
    if (former.length > 0) keyFile.replace([newest])
    return true
  })
}

function report(
  { ok, key_id, resealed, total, waiting, unreadable, former_key_removed }: Outcome,
  environment: Environment,
): string {
  const lines = [
    `Resealed ${resealed} secrets. ${total - waiting} of ${total} are sealed by the newest key (${key_id}).`,
  ]
  if (ok && former_key_removed === true)
    lines.push('The previous key was removed from the key file. Console sessions that it sealed have ended.')
  if (ok && former_key_removed === null && environment['SECRET_KEY_PREVIOUS'])
    lines.push('No secret needs SECRET_KEY_PREVIOUS any more: remove it on every node, and restart them.')
  for (const place of unreadable) lines.push(`This secret cannot be opened by any key that is here: ${place}`)
  if (!ok && unreadable.length === 0)
    lines.push(
      'A transaction has been open for a long time and may still store a secret under the previous key, so that key stays. Run this again when the transaction has ended.',
    )
  return `${lines.join('\n')}\n`
}
