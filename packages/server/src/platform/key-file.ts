/**
 * The key file of a data folder: a key a line in base64, the newest first. It is written whole beside its place and then
 * moved there, so that whoever reads it, and whenever a process or the machine dies, finds all keys of before or all of after.
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

export type KeyFile = {
  readonly path: string
  /** What the file holds now: asking again costs one look at its date. */
  readonly keys: () => Keys
  /** Takes the place of the file for good; its keys are on the disk when this returns. For one process at a time. */
  replace(keys: Keys): void
}

const NAME = 'secret-key'
const KEY_BYTES = 32

/** Makes the file on the first call, with one new key that nobody but its owner may read. */
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
      sync(folder)
    },
  }
}

/** A link is refused where there is a file, so of several processes one makes it. */
function make(folder: string): void {
  const path = join(folder, NAME)
  if (statSync(path, { throwIfNoEntry: false }) !== undefined) return
  const unfinished = write(folder, [randomBytes(KEY_BYTES)])
  try {
    linkSync(unfinished, path)
    sync(folder)
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

/** Another file has another number, and a file that was written over has another date. */
function stampOf(path: string): string {
  const { ino, mtimeNs, size } = statSync(path, { bigint: true })
  return `${ino} ${mtimeNs} ${size}`
}

/** What a process left that was killed while it wrote. */
function removeUnfinished(folder: string): void {
  for (const name of readdirSync(folder))
    if (/^secret-key\.[0-9a-f]+\.new$/.test(name)) rmSync(join(folder, name), { force: true })
}

function sync(folder: string): void {
  const handle = openSync(folder, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
