/**
 * The key file of a data folder: one key per line in base64, newest first. It is written completely under another name and then
 * moved into place, so that every reader finds all old keys or all new keys, even if a process or the machine dies.
 */
import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { Keys } from './cipher.ts'
import { codeOf, StartError } from './postgres/start-error.ts'
import { syncFolder } from './sync-folder.ts'

export type KeyFile = {
  readonly path: string
  /** The current keys of the file. A repeated call costs only a look at its timestamp. */
  readonly keys: () => Keys
  /** Replaces the file; the keys are on disk when this returns. Only one process may do this at a time. */
  replace(keys: Keys): void
}

const NAME = 'secret-key'
const KEY_BYTES = 32

/** Creates the file on the first call, with one new key that only its owner may read. */
export function openKeyFile(folder: string): KeyFile {
  const path = join(folder, NAME)
  mkdirSync(folder, { recursive: true })
  make(folder)
  let read = { stamp: stampOf(path), keys: readKeys(path) }
  return {
    path,
    keys: () => {
      const stamp = stampOf(path)
      if (stamp !== read.stamp) read = { stamp, keys: readKeys(path) }
      return read.keys
    },
    replace: (keys) => {
      removeUnfinished(folder)
      const unfinished = write(folder, keys)
      renameSync(unfinished, path)
      syncFolder(folder)
    },
  }
}

/** A link fails where there is a file, so only one of several processes creates it. */
function make(folder: string): void {
  const path = join(folder, NAME)
  if (statSync(path, { throwIfNoEntry: false }) !== undefined) return
  const unfinished = write(folder, [randomBytes(KEY_BYTES)])
  try {
    linkSync(unfinished, path)
    syncFolder(folder)
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  } finally {
    rmSync(unfinished, { force: true })
  }
}

function write(folder: string, keys: Keys): string {
  const path = join(folder, `${NAME}.${randomBytes(6).toString('hex')}.new`)
  const file = openSync(path, 'wx', 0o600)
  try {
    writeSync(file, keys.map((key) => `${key.toString('base64')}\n`).join(''))
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
  return path
}

function readKeys(path: string): Keys {
  const lines = readFileSync(path, 'utf8')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  const [newest, ...older] = lines.map((line) => Buffer.from(line, 'base64'))
  if (newest === undefined || [newest, ...older].some((key) => key.length !== KEY_BYTES)) {
    throw new StartError(
      `${path} does not contain ${KEY_BYTES} bytes in base64 on each line. Restore it from a backup; without it Postroad cannot read sealed secrets.`,
    )
  }
  return [newest, ...older]
}

/** A replaced file has another inode, and a rewritten file has another timestamp. */
function stampOf(path: string): string {
  const { ino, mtimeNs, size } = statSync(path, { bigint: true })
  return `${ino} ${mtimeNs} ${size}`
}

/** Removes files of a process that was killed while it wrote. */
function removeUnfinished(folder: string): void {
  for (const name of readdirSync(folder))
    if (/^secret-key\.[0-9a-f]+\.new$/.test(name)) rmSync(join(folder, name), { force: true })
}
