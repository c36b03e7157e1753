import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { createCipher } from '../platform/cipher.ts'
import { openDatabase, type Database } from '../platform/db.ts'
import type { KeyFile } from '../platform/key-file.ts'
import { databaseNow } from '../platform/server-facts.ts'
import { countSealed, countTransactionsSince, lockKeyFile, resealAll } from '../resources/operate/key-ring/index.ts'
import type { Storage } from '../storage.ts'
import { besideTheServer } from './beside-the-server.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** The output of `rotate-key --json`. */
type Outcome = {
  /** Whether every value is sealed by the newest key, and the previous key is no longer in the key file. */
  readonly ok: boolean
  readonly key_id: string
  readonly resealed: number
  readonly total: number
  readonly waiting: number
  readonly unreadable: readonly string[]
  /** Whether the previous key was removed from the key file; null when the keys come from the environment. */
  readonly former_key_removed: boolean | null
}

const USAGE_CODE = 2
const SETTLE_MS = 60_000
const LOOK_MS = 100

const toTerminal = (line: string): void => void process.stderr.write(`${line}\n`)

/**
 * `rotate-key [--json]`: seals every secret with the newest key. Works beside running servers, and may be killed and run again.
 * Keys from the environment: the newest is `SECRET_KEY`. Key file: adds a new key, and removes the previous one when nothing
 * needs it. Returns 0 when all is done, otherwise 1.
 */
export async function rotateKeyCommand(environment: Environment, flags: readonly string[]): Promise<number> {
  const json = flags.includes('--json')
  if (flags.some((flag) => flag !== '--json')) {
    process.stderr.write('postroad: This command takes no arguments except --json.\n')
    return USAGE_CODE
  }
  const outcome = await besideTheServer(environment, { makes: false, work: ({ storage }) => rotate(storage) })
  process.stdout.write(json ? `${JSON.stringify(outcome)}\n` : report(outcome, environment))
  return outcome.ok ? 0 : 1
}

async function rotate(storage: Storage): Promise<Outcome> {
  const database = openDatabase({
    target: storage.target,
    connectionsMax: 2,
    applicationName: 'postroad rotate-key',
    statementTimeoutMs: 600_000,
  })
  try {
    return await rotateKey(database, { ...storage, say: toTerminal })
  } finally {
    await database.close()
  }
}

/** `say` prints the progress. */
type Sealed = Pick<Storage, 'cipher' | 'keyFile'> & { readonly say?: (line: string) => void }

/**
 * The order makes a kill harmless: first both keys are on disk, then values move from the previous key to the newest.
 * The previous key is removed last, when no value uses it and no open transaction can still write one that does.
 */
export async function rotateKey(database: Database, storage: Sealed): Promise<Outcome> {
  const { keyFile, cipher, say } = storage
  if (keyFile !== undefined) await addKey(database, keyFile)
  const since = new Date(await databaseNow(database))
  const { waiting: due } = await countSealed(database, cipher)
  let reported = 0
  const progress = (count: number): void => {
    if (count > reported) say?.(`sealed ${count} of ${due}`)
    reported = count
  }
  const first = await resealAll({ db: database, cipher, progress })
  const settled = keyFile === undefined || (await settle(database, since))
  const last = await resealAll({ db: database, cipher, progress: () => undefined })
  const removed = keyFile !== undefined && settled && (await removePrevious(database, keyFile))
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

/** A file with two keys means that a rotation was interrupted: this run finishes it and creates no third key. */
function addKey(database: Database, keyFile: KeyFile): Promise<void> {
  return database.transaction(async (tx) => {
    await lockKeyFile(tx)
    const keys = keyFile.keys()
    if (keys.length === 1) keyFile.replace([randomBytes(32), ...keys])
  })
}

/**
 * Waits for transactions that may have sealed with the previous key. Servers seal with the newest key as soon as it is in the
 * file.
 */
async function settle(database: Database, since: Date): Promise<boolean> {
  const until = performance.now() + SETTLE_MS
  while (performance.now() < until) {
    // oxlint-disable-next-line no-await-in-loop -- one look at a time
    if ((await countTransactionsSince(database, since)) === 0) return true
    // oxlint-disable-next-line no-await-in-loop -- one look at a time
    await sleep(LOOK_MS)
  }
  return false
}

/** Decides by the file's content under the lock, not by an earlier copy. */
function removePrevious(database: Database, keyFile: KeyFile): Promise<boolean> {
  return database.transaction(async (tx) => {
    await lockKeyFile(tx)
    const [newest, ...previous] = keyFile.keys()
    if ((await countSealed(tx, createCipher([newest]))).waiting > 0) return false
    if (previous.length > 0) keyFile.replace([newest])
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
    lines.push('SECRET_KEY_PREVIOUS is no longer needed. Remove it on every node, and restart the nodes.')
  for (const place of unreadable) lines.push(`No key of this server can open this secret: ${place}`)
  if (!ok && unreadable.length === 0)
    lines.push(
      'A transaction has been open for a long time and may still store a secret under the previous key, so that key stays. Run this again when the transaction has ended.',
    )
  return `${lines.join('\n')}\n`
}
