import { getPriority, setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import type { Tasks } from './task.ts'
import { READY, type Answered, type Asked } from './thread.ts'

/** Below the loop of the process, which acknowledges events: it runs first where both want the same core. */
const NICER = 5
const NICEST = 19

/** Runs in a thread: answers each message with the output of the task that it names. */
export function serveTasks(tasks: Tasks): void {
  // Elsewhere than on Linux, this would lower the whole process. To raise the priority again is not permitted.
  if (process.platform === 'linux') setPriority(Math.min(NICEST, getPriority() + NICER))
  const named = new Map(tasks.map((one) => [one.name, one]))
  parentPort?.on('message', (asked: Asked) => void answer(named, asked))
  parentPort?.postMessage(READY, [])
}

async function answer(named: ReadonlyMap<string, Tasks[number]>, { task: name, input }: Asked): Promise<void> {
  const answered = await outcomeOf(async () => {
    const task = named.get(name)
    if (task === undefined) throw new Error(`No thread knows the task ${name}.`)
    return task.run(input)
  })
  parentPort?.postMessage(answered, answered.ok ? movedIn(answered.output) : [])
}

async function outcomeOf(work: () => Promise<unknown>): Promise<Answered> {
  const before = process.threadCpuUsage()
  const cpuMs = (): number => {
    const { user, system } = process.threadCpuUsage(before)
    return (user + system) / 1_000
  }
  try {
    const output = await work()
    return { ok: true, output, cpuMs: cpuMs() }
  } catch (error) {
    return { ok: false, error, cpuMs: cpuMs() }
  }
}

/** The memory of the bytes in an output: the output itself, its members, and the items of its lists. */
function movedIn(output: unknown): ArrayBuffer[] {
  const parts = [
    output,
    ...membersOf(output),
    ...membersOf(output).flatMap((part) => (Array.isArray(part) ? part : [])),
  ]
  const buffers = parts.filter((part) => part instanceof Uint8Array).map((part) => part.buffer)
  return [...new Set(buffers)].filter(isMovable)
}

/** Small buffers share a pool, which must stay here. */
const isMovable = (buffer: ArrayBufferLike): buffer is ArrayBuffer =>
  buffer instanceof ArrayBuffer && buffer.byteLength > POOL_BYTES

const POOL_BYTES = 65_536

function membersOf(value: unknown): readonly unknown[] {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return []
  return Object.values(value)
}
