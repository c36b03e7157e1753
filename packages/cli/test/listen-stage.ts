import assert from 'node:assert/strict'
import { once } from 'node:events'
import { watch } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { TestContext } from 'node:test'
import { aFolder, beginHere, beginProcess, type Environment, type Running } from './command-line.ts'

/** A command under way that follows a stream, and the lines that it has printed. */
export class Listen {
  readonly lines: string[] = []
  readonly #command: Running
  readonly #waiting = new Set<() => void>()
  #rest = ''
  #said = ''
  #ended = false
  readonly ended: Promise<number | null>

  constructor(command: Running) {
    this.#command = command
    command.stdout.on('data', (chunk: Buffer) => {
      const lines = (this.#rest + chunk.toString()).split('\n')
      this.#rest = lines.pop() ?? ''
      this.lines.push(...lines)
      for (const look of this.#waiting) look()
    })
    command.stderr.on('data', (chunk: Buffer) => (this.#said += chunk.toString()))
    this.ended = command.ended.then((code) => {
      this.#ended = true
      for (const look of this.#waiting) look()
      return code
    })
  }

  get said(): string {
    return this.#said
  }

  signal(name: NodeJS.Signals): void {
    this.#command.signal(name)
  }

  get pid(): number {
    return this.#command.pid
  }

  /** Resolves with the first line from `from` on that matches. */
  line(pattern: RegExp, from = 0): Promise<string> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const found = this.lines.slice(from).find((line) => pattern.test(line))
        if (found === undefined && !this.#ended) return
        this.#waiting.delete(look)
        if (found === undefined)
          reject(new Error(`It ended without ${pattern}: ${this.lines.join('\n')} ${this.#said}`))
        else resolve(found)
      }
      this.#waiting.add(look)
      look()
    })
  }

  /** Stops `listen` as Ctrl-C does. */
  async stop(): Promise<void> {
    this.signal('SIGCONT')
    this.signal('SIGINT')
    assert.equal(await this.ended, 0, this.#said)
  }

  async kill(): Promise<void> {
    this.#command.kill()
    await this.ended
  }
}

type Position = { readonly cursor: string; readonly answered: readonly string[] }

/** A folder for positions, and runs of `listen` that share it. */
export async function listening(t: TestContext, env: Environment) {
  const folder = await aFolder()
  const runs: Listen[] = []
  t.after(async () => {
    for (const run of runs) await run.kill()
    await folder.remove()
  })
  const own = { ...env, POSTROAD_CONFIG_DIR: folder.path }
  const connected = async (run: Listen): Promise<Listen> => {
    runs.push(run)
    await run.line(/^(?:Connected\.|\{"type":"connected")/)
    return run
  }
  return {
    env: own,
    /** Starts `listen`, and resolves when it is connected. */
    start: (target: string, ...args: readonly string[]) =>
      connected(new Listen(beginHere(['listen', target, ...args], own))),
    /** The same in a separate process. */
    startProcess: (target: string, ...args: readonly string[]) =>
      connected(new Listen(beginProcess(['listen', target, ...args], own))),
    /** The stored position, once it meets a condition: `listen` writes it after the answers. */
    position: (meets: (position: Position) => boolean = () => true) => positionIn(join(folder.path, 'listen'), meets),
  }
}

async function positionIn(folder: string, meets: (position: Position) => boolean): Promise<Position> {
  const changes = watch(folder)
  try {
    for (;;) {
      const changed = once(changes, 'change')
      const name = (await readdir(folder)).find((one) => one.endsWith('.json'))
      const found = name === undefined ? undefined : await readFile(join(folder, name), 'utf8')
      if (found !== undefined && meets(JSON.parse(found))) return JSON.parse(found)
      await changed
    }
  } finally {
    changes.close()
  }
}

type Sending = { readonly from: number; readonly count: number; readonly perSecond?: number }

/**
 * Sends numbered events until each is accepted. A repeat after a broken connection has the same key, so each is stored
 * once, even while the server restarts.
 */
export async function sendNumbers(url: () => string, { from, count, perSecond = 0 }: Sending): Promise<void> {
  const batch = perSecond === 0 ? 25 : Math.ceil(perSecond / 10)
  for (let first = from; first < from + count; first += batch) {
    const numbers = Array.from({ length: Math.min(batch, from + count - first) }, (_, at) => first + at)
    // oxlint-disable-next-line no-await-in-loop -- batch after batch
    await Promise.all([...numbers.map((n) => accepted(url, n)), ...(perSecond === 0 ? [] : [pause(100)])])
  }
}

async function accepted(url: () => string, n: number): Promise<void> {
  for (;;) {
    try {
      // oxlint-disable-next-line no-await-in-loop -- until the server has it
      const response = await fetch(url(), {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'Idempotency-Key': `event-${n}` },
        body: JSON.stringify({ n }),
      })
      // oxlint-disable-next-line no-await-in-loop -- until the server has it
      await response.body?.cancel()
      if (response.ok) return
      assert.ok(response.status >= 500, `the event was refused with ${response.status}`)
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error
    }
    // oxlint-disable-next-line no-await-in-loop -- the server is starting
    await pause(50)
  }
}

/** Asserts that every number arrived exactly once. */
export function assertEachOnce(numbers: readonly number[], count: number): void {
  const times = new Map<number, number>()
  for (const n of numbers) times.set(n, (times.get(n) ?? 0) + 1)
  const missing = Array.from({ length: count }, (_, n) => n).filter((n) => !times.has(n))
  const repeated = [...times].filter(([, seen]) => seen > 1).map(([n]) => n)
  assert.deepEqual({ missing, repeated }, { missing: [], repeated: [] })
  assert.equal(numbers.length, count)
}
