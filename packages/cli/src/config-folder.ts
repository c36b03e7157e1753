import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { io } from './io.ts'

/** The folder for everything that the command line remembers: profiles, projects and positions in streams. */
export function configFolder(): string {
  const { POSTROAD_CONFIG_DIR, XDG_CONFIG_HOME, HOME } = io().env
  if (isGiven(POSTROAD_CONFIG_DIR)) return POSTROAD_CONFIG_DIR
  return join(
    isGiven(XDG_CONFIG_HOME) ? XDG_CONFIG_HOME : join(isGiven(HOME) ? HOME : homedir(), '.config'),
    'postroad',
  )
}

const isGiven = (text: string | undefined): text is string => text !== undefined && text !== ''

/** Replaces a file in one step, so that a reader never sees half of it. Only its owner may read it. */
export async function replaceFile(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const part = `${path}.${process.pid}.part`
  try {
    const file = await open(part, 'w', 0o600)
    try {
      await file.writeFile(text)
    } finally {
      await file.close()
    }
    await rename(part, path)
  } catch (error) {
    await rm(part, { force: true })
    throw error
  }
}

const LOCK_LOOK_MS = 50
/** A lock older than this is from a process that died. */
const LOCK_OLD_MS = 60_000

/** Runs the work of one process at a time for this file. */
export async function whileLocked<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
  const lock = `${path}.lock`
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  // oxlint-disable-next-line no-await-in-loop -- polls until the other process is done
  while (!(await locks(lock))) await new Promise((resolve) => void setTimeout(resolve, LOCK_LOOK_MS))
  try {
    return await work()
  } finally {
    await rm(lock, { force: true })
  }
}

async function locks(lock: string): Promise<boolean> {
  try {
    await (await open(lock, 'wx', 0o600)).close()
    return true
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    const since = await stat(lock).catch(() => undefined)
    if (since !== undefined && Date.now() - since.mtimeMs > LOCK_OLD_MS) await rm(lock, { force: true })
    return false
  }
}

/** The object in a file of JSON; undefined when there is no file. */
export async function readJsonFile(path: string): Promise<object | undefined> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
  const value: unknown = JSON.parse(text)
  return typeof value === 'object' && value !== null ? value : undefined
}
