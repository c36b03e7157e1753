import { createHash } from 'node:crypto'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { configFolder, readJsonFile, replaceFile } from '../config-folder.ts'
import { Failure } from '../failure.ts'

/** The stream and the receiver to which a position belongs. */
export type Place = { readonly server: string; readonly project: string; readonly target: string }

export type Reached = {
  /** The position up to which every event is answered. */
  readonly cursor: string
  /** Submissions that were answered: those after the cursor, and the last ones before it. */
  readonly answered: readonly string[]
}

/**
 * The position that `listen` has reached, in a file. Saving never waits for a disk that is slow: while one version is being written, only
 * the newest one waits behind it.
 */
export class PositionFile {
  readonly path: string
  readonly #lock: string
  readonly #place: Place
  #next: Reached | undefined
  #writing: Promise<void> | undefined
  /** The reason why the file cannot be written. */
  #broken: Error | undefined

  constructor(place: Place) {
    this.#place = place
    const name = createHash('sha256').update(JSON.stringify(place)).digest('hex').slice(0, 24)
    this.path = join(configFolder(), 'listen', `${name}.json`)
    this.#lock = `${this.path}.pid`
  }

  /** Makes this process the only one that forwards this stream to this receiver. */
  async lock(): Promise<void> {
    await mkdir(join(configFolder(), 'listen'), { recursive: true, mode: 0o700 })
    for (let tries = 0; tries < 2; tries += 1) {
      try {
        // oxlint-disable-next-line no-await-in-loop -- the second attempt follows the removal of a stale lock
        return await writeFile(this.#lock, String(process.pid), { flag: 'wx', mode: 0o600 })
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
      }
      // oxlint-disable-next-line no-await-in-loop -- the second attempt follows the removal of a stale lock
      const other = Number(await readFile(this.#lock, 'utf8').catch(() => '0'))
      if (other !== process.pid && lives(other))
        throw new Failure(
          `Another "listen" (process ${other}) already forwards to ${this.#place.target}. Stop it, or remove ${this.#lock} if that process is something else.`,
        )
      // oxlint-disable-next-line no-await-in-loop -- the second attempt follows the removal of a stale lock
      await rm(this.#lock, { force: true })
    }
    throw new Failure(`${this.#lock} cannot be written. Remove it, and run the command again.`)
  }

  async read(): Promise<Reached | undefined> {
    try {
      const stored = await readJsonFile(this.path)
      if (stored === undefined || !('cursor' in stored) || typeof stored.cursor !== 'string') return undefined
      const answered = 'answered' in stored && Array.isArray(stored.answered) ? stored.answered.map(String) : []
      return { cursor: stored.cursor, answered }
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
      throw new Failure(`${this.path} is not JSON. Remove it, and run the command again to start with new events.`)
    }
  }

  save(reached: Reached): void {
    this.#next = reached
    this.#writing ??= this.#write()
  }

  async #write(): Promise<void> {
    try {
      for (let next = this.#next; next !== undefined; next = this.#next) {
        this.#next = undefined
        // oxlint-disable-next-line no-await-in-loop -- one version after the other
        await replaceFile(this.path, `${JSON.stringify({ ...this.#place, ...next })}\n`)
      }
    } catch (error) {
      this.#broken = error instanceof Error ? error : new Error('the file cannot be replaced')
    } finally {
      this.#writing = undefined
    }
  }

  /** A position that cannot be stored ends the command, because the next run would send everything again. */
  check(): void {
    if (this.#broken === undefined) return
    throw new Failure(`The position cannot be stored in ${this.path}: ${this.#broken.message}`)
  }

  /** Resolves when the last version is in the file, and releases the lock. */
  async close(): Promise<void> {
    await this.#writing
    await rm(this.#lock, { force: true })
    this.check()
  }
}

function lives(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
