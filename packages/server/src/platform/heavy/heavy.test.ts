import assert from 'node:assert/strict'
import { getPriority } from 'node:os'
import { test } from 'node:test'
import { isMainThread } from 'node:worker_threads'
import { createLog } from '../log.ts'
import { createHeavy, HeavyError, LIGHT_WORK, type Heavy, type HeavyOptions } from './heavy.ts'
import { serveTasks } from './serve.ts'
import { task } from './task.ts'

/** `gate`: opened by the test; the number of tasks that have started, and their highest number at one time. */
type Held = { readonly gate: Int32Array; readonly mark: number }

const hold = task('hold', ({ gate, mark }: Held) => {
  const place = Atomics.add(gate, 1, 1)
  Atomics.store(gate, 2 + place, mark)
  Atomics.notify(gate, 1)
  Atomics.wait(gate, 0, 0)
  return mark
})
const spin = task('spin', () => {
  for (;;);
})
const grow = task('grow', () => {
  const held: number[][] = []
  for (;;) held.push(Array.from<number>({ length: 10_000 }).fill(0.5))
})
const fail = task('fail', (message: string) => {
  throw new TypeError(message)
})
const exit = task('exit', (code: number) => process.exit(code))
const bytes = task('bytes', (count: number) => ({ parts: [Buffer.alloc(count, 1)] }))
const where = task('where', () => isMainThread)
const priority = task('priority', () => getPriority())
/** The thread ends after its answer. */
const leave = task('leave', () => void setImmediate(() => process.exit(0)))

const HEAVY = LIGHT_WORK + 1

const aGate = () => new Int32Array(new SharedArrayBuffer(4 * 64))
const open = (gate: Int32Array): void => {
  Atomics.store(gate, 0, 1)
  Atomics.notify(gate, 0)
}
/** Waits until this many tasks have started, and returns their marks in the order of their starts. */
const started = async (gate: Int32Array, count: number): Promise<readonly number[]> => {
  for (let seen = Atomics.load(gate, 1); seen < count; seen = Atomics.load(gate, 1))
    await Atomics.waitAsync(gate, 1, seen).value
  return [...gate.subarray(2, 2 + Atomics.load(gate, 1))]
}
const faultOf = async (work: Promise<unknown>): Promise<unknown> => {
  const error: unknown = await work.then(
    () => undefined,
    (cause: unknown) => cause,
  )
  return error instanceof HeavyError ? error.fault : error
}

function runTests(): void {
  const log = createLog({ level: 'silent', format: 'text' })
  const rooms: Heavy[] = []
  const aRoom = (options: Partial<HeavyOptions> = {}): Heavy => {
    const room = createHeavy({ entry: new URL(import.meta.url), threadsMax: 3, log, ...options })
    rooms.push(room)
    return room
  }
  test.afterEach(() => Promise.all(rooms.splice(0).map((room) => room.close())))

  test('light work runs here and starts no thread, and heavier work runs in a thread', async () => {
    const room = aRoom()
    assert.equal(await room.run(where, { workspaceId: 'a', input: undefined, work: LIGHT_WORK }), true)
    assert.equal(room.load().threads, 0)
    assert.equal(await room.run(where, { workspaceId: 'a', input: undefined, work: HEAVY }), false)
    assert.equal(room.load().threads, 1)
    assert.deepEqual([...room.load().ran], [['where', 1]])
  })

  test('a workspace has at most two tasks under way, and others start beside it', async () => {
    const room = aRoom({ threadsMax: 4 })
    const [gate, other] = [aGate(), aGate()]
    const mine = [1, 2, 3, 4].map((mark) => room.run(hold, { workspaceId: 'a', input: { gate, mark }, work: HEAVY }))
    await started(gate, 2)
    const theirs = room.run(hold, { workspaceId: 'b', input: { gate: other, mark: 9 }, work: HEAVY })
    assert.deepEqual(await started(other, 1), [9])
    // A thread is idle, and two tasks of the first workspace wait.
    assert.deepEqual(
      (await started(gate, 2)).toSorted((a, b) => a - b),
      [1, 2],
    )
    assert.equal(room.load().waiting, 2)
    open(gate)
    open(other)
    assert.deepEqual(await Promise.all([...mine, theirs]), [1, 2, 3, 4, 9])
  })

  test('with two threads, a workspace has one of them', async () => {
    const room = aRoom({ threadsMax: 2 })
    const gate = aGate()
    const all = [1, 2].map((mark) => room.run(hold, { workspaceId: 'a', input: { gate, mark }, work: HEAVY }))
    const other = room.run(hold, { workspaceId: 'b', input: { gate, mark: 3 }, work: HEAVY })
    assert.deepEqual(
      (await started(gate, 2)).toSorted((a, b) => a - b),
      [1, 3],
    )
    open(gate)
    await Promise.all([...all, other])
  })

  test('workspaces take turns, however many tasks one of them has waiting', async () => {
    const room = aRoom({ threadsMax: 1 })
    const [first, gate] = [aGate(), aGate()]
    const held = room.run(hold, { workspaceId: 'a', input: { gate: first, mark: 0 }, work: HEAVY })
    await started(first, 1)
    open(gate)
    const run = (workspaceId: string, mark: number) =>
      room.run(hold, { workspaceId, input: { gate, mark }, work: HEAVY })
    const waiting = [run('a', 1), run('a', 2), run('a', 3), run('b', 4), run('c', 5), run('b', 6)]
    open(first)
    await Promise.all([held, ...waiting])
    assert.deepEqual(await started(gate, 6), [1, 4, 5, 2, 6, 3])
  })

  test('a task that outlives its limit is ended with its thread, and the next one gets another thread', async () => {
    const room = aRoom({ limits: { runMs: 50 } })
    assert.equal(await faultOf(room.run(spin, { workspaceId: 'a', input: undefined, work: HEAVY })), 'slow')
    assert.equal(await faultOf(room.run(spin, { workspaceId: 'a', input: undefined, work: HEAVY })), 'slow')
    assert.deepEqual([room.load().threads, room.load().faults], [0, 2])
  })

  test('a task with a shorter limit is ended after that', async () => {
    const room = aRoom({ limits: { runMs: 600_000 } })
    const asked = { workspaceId: 'a', input: undefined, work: HEAVY, runMs: 50 }
    assert.equal(await faultOf(room.run(spin, asked)), 'slow')
  })

  test('a patient task is paid by the payer that it names, and by nobody without one', async () => {
    const paid: string[] = []
    const room = aRoom({ charge: (payer) => paid.push(payer) })
    const asked = { workspaceId: 'a', input: undefined, work: HEAVY }
    await room.run(where, { ...asked, isPatient: true })
    await room.run(where, { ...asked, isPatient: true, payer: 'b' })
    await room.run(where, asked)
    assert.deepEqual(paid, ['b', 'a'])
  })

  test('a task that needs more memory than a thread has is ended, and the process goes on', async () => {
    const room = aRoom({ limits: { memoryMb: 32, runMs: 600_000 } })
    assert.equal(await faultOf(room.run(grow, { workspaceId: 'a', input: undefined, work: HEAVY })), 'large')
    assert.equal(await room.run(where, { workspaceId: 'a', input: undefined, work: HEAVY }), false)
  })

  test('the error of a task arrives as it is, and its thread stays', async () => {
    const room = aRoom()
    const failed = room.run(fail, { workspaceId: 'a', input: 'no', work: HEAVY })
    await assert.rejects(failed, new TypeError('no'))
    assert.equal(room.load().threads, 1)
  })

  test('a thread that ends during its task is replaced', async () => {
    const room = aRoom()
    await assert.rejects(room.run(exit, { workspaceId: 'a', input: 3, work: HEAVY }), /The thread ended/)
    assert.equal(await room.run(where, { workspaceId: 'a', input: undefined, work: HEAVY }), false)
  })

  test('a thread that ends without a task gets no other one', async () => {
    const room = aRoom()
    await room.run(leave, { workspaceId: 'a', input: undefined, work: HEAVY })
    while (room.load().threads > 0) await new Promise((resolve) => setImmediate(resolve))
    assert.equal(await room.run(where, { workspaceId: 'a', input: undefined, work: HEAVY }), false)
  })

  test('on Linux, a thread has a lower priority than the process', { skip: process.platform !== 'linux' }, async () => {
    const before = getPriority()
    const room = aRoom()
    const inThread = await room.run(priority, { workspaceId: 'a', input: undefined, work: HEAVY })
    assert.deepEqual([inThread, getPriority()], [Math.min(19, before + 5), before])
  })

  test('an input that cannot be copied fails alone', async () => {
    const room = aRoom()
    const asked = { workspaceId: 'a', input: { run: () => 1 } as unknown as string, work: HEAVY }
    await assert.rejects(room.run(fail, asked), /could not be cloned/)
    assert.equal(await room.run(where, { workspaceId: 'a', input: undefined, work: HEAVY }), false)
  })

  test('the bytes of an output arrive, small or large', async () => {
    const room = aRoom()
    for (const count of [3, 100_000]) {
      const { parts } = await room.run(bytes, { workspaceId: 'a', input: count, work: HEAVY })
      assert.deepEqual([parts[0]?.length, parts[0]?.at(-1)], [count, 1])
    }
  })

  test('a workspace with too many waiting tasks is refused, and another one is not', async () => {
    const room = aRoom({ threadsMax: 3, limits: { waitingMax: 1 } })
    const gate = aGate()
    const run = (workspaceId: string) => room.run(hold, { workspaceId, input: { gate, mark: 1 }, work: HEAVY })
    const all = [run('a'), run('a'), run('a')]
    assert.equal(await faultOf(run('a')), 'full')
    all.push(run('b'))
    open(gate)
    assert.deepEqual(await Promise.all(all), [1, 1, 1, 1])
  })

  test('a task that waited too long is not started', async () => {
    const room = aRoom({ threadsMax: 1, limits: { waitMs: -1 } })
    assert.equal(await faultOf(room.run(where, { workspaceId: 'a', input: undefined, work: HEAVY })), 'late')
  })

  test('a patient task waits as long as it must, beside any number of others, and takes no place of them', async () => {
    const room = aRoom({ threadsMax: 1, limits: { waitingMax: 1, waitMs: -1 } })
    const run = (isPatient: boolean) => room.run(where, { workspaceId: 'a', input: undefined, work: HEAVY, isPatient })
    const patient = [run(true), run(true), run(true)]
    assert.equal(await faultOf(run(false)), 'late')
    assert.deepEqual(await Promise.all(patient), [false, false, false])
  })

  test('a thread without work ends, and a later task gets a new one', async () => {
    const room = aRoom({ limits: { idleMs: 0 } })
    assert.equal(await room.run(where, { workspaceId: 'a', input: undefined, work: HEAVY }), false)
    while (room.load().threads > 0) await new Promise((resolve) => setImmediate(resolve))
    assert.equal(await room.run(where, { workspaceId: 'a', input: undefined, work: HEAVY }), false)
  })

  test('a closed room stops what runs and what waits, and takes nothing more', async () => {
    const room = aRoom({ threadsMax: 1 })
    const gate = aGate()
    const running = faultOf(room.run(hold, { workspaceId: 'a', input: { gate, mark: 1 }, work: HEAVY }))
    const waiting = faultOf(room.run(hold, { workspaceId: 'a', input: { gate, mark: 2 }, work: HEAVY }))
    await started(gate, 1)
    await room.close()
    assert.deepEqual(await Promise.all([running, waiting]), ['stopped', 'stopped'])
    assert.equal(await faultOf(room.run(hold, { workspaceId: 'a', input: { gate, mark: 3 }, work: HEAVY })), 'stopped')
    assert.equal(room.load().threads, 0)
  })
}

/** The tests run in the process, and their tasks in threads that load the same file. */
if (isMainThread) runTests()
else serveTasks([hold, spin, grow, fail, exit, bytes, where, priority, leave])
