import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testClock } from '../../platform/clock.ts'
import { reject, type Committed, type Routed } from '../types.ts'
import { createOnce } from './once.ts'

// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the answer to a repeat reads only these members
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

/** A commit that ends when the test ends it, and a count of its calls. */
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

/** Lets all work run that needs only one turn of the event loop. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('while the first of two equal requests is in flight, the second starts no commit and gets the answer of the first', async () => {
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

test('requests without a key do not wait for each other', async () => {
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

test('the second request waits for 5 s at most, and then the answer is to retry', async () => {
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

test('when the first request is refused, an equal one gets the same refusal, and one with another body is tried by itself', async () => {
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

test('a request whose key another process is storing is retried until there is an answer', async () => {
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

test('a failing commit fails the requests that waited for it, and the next request starts a new commit', async () => {
  const once = createOnce(testClock(0))
  const outcomes = await Promise.allSettled([once(key, failing), once(key, failing)])
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  assert.equal((await once(key, () => Promise.resolve(stored))).kind, 'stored')
})
