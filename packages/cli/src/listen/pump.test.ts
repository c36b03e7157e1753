import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { test } from 'node:test'
import { Pump } from './pump.ts'
import type { Reached } from './position.ts'

function aPump(inFlightMax = 2, answered: readonly string[] = []) {
  const saved: Reached[] = []
  const open = new Map<string, (isAnswered: boolean) => void>()
  const pump = new Pump({ save: (reached) => saved.push(reached) }, { inFlightMax, answered })
  const take = (id: string): Promise<void> =>
    pump.take({ id, cursor: `after ${id}`, send: () => new Promise((resolve) => open.set(id, resolve)) })
  const answer = async (id: string, isAnswered = true): Promise<void> => {
    open.get(id)?.(isAnswered)
    open.delete(id)
    await turn()
  }
  return { pump, saved, open, take, answer, cursor: () => saved.at(-1)?.cursor }
}

test('the position moves past an event once it and all events before it are answered', async () => {
  const { take, answer, cursor, saved } = aPump(3)
  for (const id of ['a', 'b', 'c']) await take(id)
  assert.equal(cursor(), undefined)
  await answer('b')
  assert.equal(cursor(), undefined)
  await answer('a')
  assert.equal(cursor(), 'after b')
  assert.deepEqual(saved.at(-1)?.answered, ['a', 'b'])
  await answer('c')
  assert.equal(cursor(), 'after c')
})

test('the pump stores events that were answered out of order beside the position, and does not send them again', async () => {
  const { take, answer, saved, pump } = aPump(3)
  pump.begin('the start')
  for (const id of ['a', 'b', 'c']) await take(id)
  await answer('c')
  assert.deepEqual(saved.at(-1), { cursor: 'the start', answered: ['c'] })
  const later = aPump(3, saved.at(-1)?.answered)
  for (const id of ['a', 'b', 'c']) await later.take(id)
  assert.deepEqual([...later.open.keys()], ['a', 'b'])
})

test('the pump limits the events under way, and the next one follows an answer', async () => {
  const { take, answer, open } = aPump(2)
  for (const id of ['a', 'b', 'c', 'd']) await take(id)
  assert.deepEqual([...open.keys()], ['a', 'b'])
  await answer('b')
  assert.deepEqual([...open.keys()], ['a', 'c'])
})

test('the pump sends a submission with several records once, and the position waits for its answer', async () => {
  const { take, answer, open, cursor, pump } = aPump()
  await take('a')
  await take('a')
  pump.pass('after something else')
  assert.deepEqual([...open.keys()], ['a'])
  assert.equal(cursor(), undefined)
  await answer('a')
  assert.equal(cursor(), 'after something else')
})

test('an event without an answer holds the position back', async () => {
  const { take, answer, cursor } = aPump()
  await take('a')
  await take('b')
  await answer('a', false)
  await answer('b')
  assert.equal(cursor(), undefined)
})

test('the pump takes no event while too many events wait, and a stop ends the wait', async () => {
  const { take, pump, answer } = aPump(1)
  let taken = 0
  const all = (async () => {
    for (let n = 0; n < 400; n += 1) {
      await take(String(n))
      taken += 1
    }
  })()
  await turn()
  assert.equal(taken, 256)
  await answer('0')
  assert.equal(taken, 257)
  const stopped = pump.stop()
  await answer('1')
  await Promise.all([all, stopped])
})

test('events that are only passed take no memory while one event is open', async () => {
  const { take, pump, answer, saved } = aPump()
  await take('a')
  for (let n = 0; n < 100_000; n += 1) pump.pass(`cursor ${n}`)
  await answer('a')
  assert.equal(saved.at(-1)?.cursor, 'cursor 99999')
})
