import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testClock } from '../../platform/clock.ts'
import { reject, type Committed, type Routed } from '../types.ts'
import { createOnce } from './once.ts'

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what a repeat is told stands in these members
const event = {
  submissionId: 's',
  dataset: 'd',
  records: [],
  routed: undefined,
  verified: { captured: { receivedAt: 1 } },
} as unknown as Routed
const stored: Committed = { kind: 'stored', event }
const key = { hash: 'h', fingerprint: 'f' }
const other = { hash: 'h', fingerprint: 'another' }

/** A commit that ends when it is told to, and a count of how often it was asked. */
function aCommit() {
  const waiting: ((outcome: Committed) => void)[] = []
  let asked = 0
  return {
    commit: () => {
      asked += 1
      return new Promise<Committed>((resolve) => waiting.push(resolve))
    },
    asked: () => asked,
    end: (outcome: Committed) => waiting.shift()?.(outcome),
  }
}

/** Lets everything run that needs no more than its turn. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('while the first of two equal requests is in flight the other asks nobody, and gets its answer', async () => {
  const once = createOnce(testClock(0))
  const { commit, asked, end } = aCommit()
  const both = [once(key, commit), once(key, commit), once(other, commit)]
  await settle()
  assert.equal(asked(), 1)
  end(stored)
  const [first, second, third] = await Promise.all(both)
  assert.deepEqual([first?.kind, second?.kind], ['stored', 'duplicate'])
  assert.equal(third?.kind === 'rejected' && third.reason, 'idempotency_key_reused')
})

test('without a key nobody waits for anybody', async () => {
  const once = createOnce(testClock(0))
  const { commit, asked, end } = aCommit()
  const both = [once(undefined, commit), once(undefined, commit)]
  assert.equal(asked(), 2)
  end(stored)
  end(stored)
  assert.deepEqual(
    (await Promise.all(both)).map(({ kind }) => kind),
    ['stored', 'stored'],
  )
})

test('the other waits for 5 s and no longer: then it is told to come again', async () => {
  const clock = testClock(0)
  const once = createOnce(clock)
  const { commit, end } = aCommit()
  const first = once(key, commit)
  let second: Awaited<typeof first> | undefined
  void once(key, commit).then((done) => (second = done))
  clock.advance(4_999)
  await settle()
  assert.equal(second, undefined)
  clock.advance(1)
  await settle()
  assert.deepEqual(second, reject('idempotency_in_progress', { retryAfterSeconds: 1 }))
  end(stored)
  assert.equal((await first).kind, 'stored')
})

test('when the first is refused, its equal is refused like it, and another body is tried by itself', async () => {
  const once = createOnce(testClock(0))
  const { commit, asked, end } = aCommit()
  const all = [once(key, commit), once(key, commit), once(other, commit)]
  end(reject('storage_unavailable'))
  await settle()
  assert.equal(asked(), 2)
  end(stored)
  const [first, second, third] = await Promise.all(all)
  assert.deepEqual(
    [first, second, third?.kind],
    [reject('storage_unavailable'), reject('storage_unavailable'), 'stored'],
  )
})

test('what another process is storing is tried again until its answer is there', async () => {
  const clock = testClock(0)
  const once = createOnce(clock)
  const { commit, asked, end } = aCommit()
  const both = [once(key, commit), once(key, commit)]
  for (let tries = 1; tries <= 5; tries += 1) {
    assert.equal(asked(), tries)
    end({ kind: 'busy' })
    await settle()
    clock.advance(50)
    await settle()
  }
  end({
    kind: 'duplicate',
    answer: { submissionId: 's', dataset: null, records: [], routed: undefined, receivedAt: 1 },
  })
  assert.deepEqual(
    (await Promise.all(both)).map(({ kind }) => kind),
    ['duplicate', 'duplicate'],
  )
  assert.equal(asked(), 6)
})

const failing = (): Promise<Committed> => Promise.reject(new Error('broken'))

test('a commit that fails fails those that waited for it, and the next one is tried anew', async () => {
  const once = createOnce(testClock(0))
  const outcomes = await Promise.allSettled([once(key, failing), once(key, failing)])
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  assert.equal((await once(key, () => Promise.resolve(stored))).kind, 'stored')
})
