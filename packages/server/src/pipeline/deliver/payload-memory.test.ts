import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testClock } from '../../platform/clock.ts'
import { PayloadMemory, type Held } from './payload-memory.ts'

const RULES = { all: 1_000, reserved: 200, share: 8 }
const of = (workspaceId: string, lane = `${workspaceId}/0`) => ({ workspaceId, lane })

/** Takes as often as there is room. */
function filled(memory: PayloadMemory, workspaceId: string, bytes: number): Held[] {
  const held: Held[] = []
  for (;;) {
    const taken = memory.take(of(workspaceId, `${workspaceId}/${held.length}`), { bytes, patienceMs: 0 })
    if (taken instanceof Promise) return held
    held.push(taken)
  }
}

test('payloads never take more memory than there is, and a workspace without any gets some at once', () => {
  const memory = new PayloadMemory(testClock(0), RULES)
  assert.ok(filled(memory, 'a', 10).length > 60)
  assert.ok(memory.inUse <= 800)
  assert.ok(!(memory.take(of('b'), { bytes: 150, patienceMs: 0 }) instanceof Promise))
  assert.ok(memory.inUse <= 1_000)
})

test('a payload that must wait gets memory when another one frees enough, the oldest first', async () => {
  const memory = new PayloadMemory(testClock(0), RULES)
  const [first, second] = filled(memory, 'a', 100)
  const waiting = ['b', 'c'].map((name) => memory.take(of(name), { bytes: 350, patienceMs: 1_000 }))
  assert.ok(waiting.every((taken) => taken instanceof Promise))
  first?.free()
  second?.resize(20)
  assert.ok(await waiting[0])
  assert.ok(memory.inUse <= 1_000)
})

test('a payload that gets no memory in time is given up, and takes none later', async () => {
  const clock = testClock(0)
  const memory = new PayloadMemory(clock, RULES)
  const held = filled(memory, 'a', 100)
  const late = memory.take(of('b'), { bytes: 400, patienceMs: 1_000 })
  clock.advance(1_000)
  assert.equal(await late, undefined)
  for (const one of held) one.free()
  assert.equal(memory.inUse, 0)
})

test('a payload that is larger than all memory is sent when nothing else is', () => {
  const memory = new PayloadMemory(testClock(0), RULES)
  assert.ok(!(memory.take(of('a'), { bytes: 5_000, patienceMs: 0 }) instanceof Promise))
})
