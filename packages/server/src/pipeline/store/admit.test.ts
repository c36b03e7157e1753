import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Routed } from '../types.ts'
import { admit, monthKey, rootKey, type Known } from './admit.ts'

const NOW = Date.parse('2026-01-31T23:59:50Z')

type Given = {
  readonly workspaceId: string
  readonly quota: number | null
  readonly key: string | null
  readonly fingerprint: string
  readonly allowance?: number | null
  readonly fansOut?: number
  readonly root?: string
}

function anEvent({ workspaceId, quota, key, fingerprint, allowance = null, fansOut = 0, root }: Given): Routed {
  const deliveries = Array.from({ length: fansOut }, (_none, n) => ({ id: `${n}`, pauseReason: null }))
  const idempotency = key === null ? undefined : { hash: key, fingerprint }
  const limits = { events_per_month: quota, deliveries_per_month: allowance, descendants_per_event: 10 }
  const plan = { workspaceId, limits }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- admit reads only these members of an event
  return {
    verified: { idempotency, captured: { receivedAt: NOW, root }, receiver: { plan } },
    deliveries,
  } as unknown as Routed
}

function aKnown(of: Partial<Known> = {}): Known {
  return {
    consumed: new Map(),
    held: new Set(),
    used: new Map(),
    descendants: new Map(),
    datasets: new Map(),
    now: NOW,
    upgradeUrl: 'https://example.com/',
    ...of,
  }
}

const consumed = (key_hash: string) => ({
  workspace_id: 'w',
  key_hash,
  fingerprint: 'same',
  submission_id: 's',
  received_at: new Date(NOW),
  answer: '{"dataset":null,"records":[]}',
})

const keyed = (key: string, fingerprint = 'same'): Routed => anEvent({ workspaceId: 'w', quota: 1, key, fingerprint })

const named = (verdicts: ReturnType<typeof admit>): readonly string[] =>
  verdicts.map((verdict) =>
    verdict === 'admitted' ? verdict : verdict.kind === 'rejected' ? verdict.reason : verdict.kind,
  )

const under = (root: string | undefined): Routed =>
  anEvent({ workspaceId: 'w', quota: null, key: null, fingerprint: '', ...(root === undefined ? {} : { root }) })

test('one event leads to exactly as many events as the plan allows, and others do not count in it', () => {
  const descendants = new Map([[rootKey({ workspaceId: 'w', rootId: 'full' }), 9]])
  const verdicts = admit([under('full'), under('full'), under('other'), under(undefined)], aKnown({ descendants }))
  assert.deepEqual(named(verdicts), ['admitted', 'loop_detected', 'admitted', 'admitted'])
})

test('when a batch exceeds the quota, the first events fit, and the others learn when the next month starts', () => {
  const one = anEvent({ workspaceId: 'w', quota: 10, key: null, fingerprint: '' })
  const free = anEvent({ workspaceId: 'free', quota: null, key: null, fingerprint: '' })
  const used = new Map([[monthKey({ workspaceId: 'w', month: '2026-01-01' }), { events: 8, deliveries: 0 }]])
  const verdicts = admit([one, free, one, one, free, one], aKnown({ used }))
  assert.deepEqual(named(verdicts), [
    'admitted',
    'admitted',
    'admitted',
    'quota_exceeded',
    'admitted',
    'quota_exceeded',
  ])
  assert.deepEqual(verdicts[3], {
    kind: 'rejected',
    reason: 'quota_exceeded',
    retryAfterSeconds: 10,
    upgradeUrl: 'https://example.com/',
  })
})

test('a consumed key is a repeat, a key that another transaction has locked is busy, and so is the second of two equal keys in a batch', () => {
  const known = aKnown({ consumed: new Map([['consumed', consumed('consumed')]]), held: new Set(['consumed', 'free']) })
  const verdicts = admit(
    [
      keyed('consumed'),
      keyed('consumed', 'other'),
      keyed('elsewhere'),
      keyed('free'),
      keyed('free'),
      keyed('consumed'),
    ],
    known,
  )
  assert.deepEqual(named(verdicts), ['duplicate', 'idempotency_key_reused', 'busy', 'admitted', 'busy', 'duplicate'])
})

test('in any batch, every workspace gets exactly as many events as its quota has left, and no key is stored twice', () => {
  const event = fc.record({
    workspaceId: fc.constantFrom('a', 'b', 'c'),
    key: fc.option(fc.constantFrom('k1', 'k2', 'k3', 'k4', 'k5')),
    fingerprint: fc.constantFrom('same', 'other'),
  })
  const quotas: Readonly<Record<string, number | null>> = { a: 5, b: 20, c: null }
  const keys = fc.uniqueArray(fc.constantFrom('k1', 'k2', 'k3', 'k4', 'k5'))
  fc.assert(
    fc.property(
      fc.array(event, { maxLength: 60 }),
      fc.record({ consumedKeys: keys, heldKeys: keys, before: fc.nat(25) }),
      (given, { consumedKeys, heldKeys, before }) => {
        const used = new Map(
          ['a', 'b'].map((workspaceId) => [
            monthKey({ workspaceId, month: '2026-01-01' }),
            { events: before, deliveries: 0 },
          ]),
        )
        const known = aKnown({
          consumed: new Map(consumedKeys.map((key) => [key, consumed(key)])),
          held: new Set(heldKeys),
          used,
        })
        const verdicts = named(
          admit(
            given.map((one) => anEvent({ ...one, quota: quotas[one.workspaceId] ?? null })),
            known,
          ),
        )
        const admitted = given.filter((_one, index) => verdicts[index] === 'admitted')
        const stored = admitted.flatMap(({ key }) => (key === null ? [] : [key]))
        assert.equal(new Set(stored).size, stored.length)
        assert.ok(stored.every((key) => heldKeys.includes(key) && !consumedKeys.includes(key)))
        for (const [workspaceId, quota] of Object.entries(quotas)) {
          const mine = given.flatMap((one, index) => (one.workspaceId === workspaceId ? [verdicts[index]] : []))
          const fitted = mine.filter((verdict) => verdict === 'admitted').length
          const left = quota === null ? Infinity : Math.max(0, quota - before)
          assert.ok(fitted <= left)
          const refusedFrom = mine.indexOf('quota_exceeded')
          if (refusedFrom >= 0) assert.deepEqual([fitted, mine.slice(refusedFrom).includes('admitted')], [left, false])
        }
      },
    ),
  )
})

test('the first deliveries of a batch use exactly the rest of the allowance, the others wait, and a refused event uses none of it', () => {
  const event = fc.record({ workspaceId: fc.constantFrom('a', 'b'), fansOut: fc.nat(4) })
  fc.assert(
    fc.property(fc.array(event, { maxLength: 40 }), fc.nat(30), fc.option(fc.nat(30)), (given, before, quota) => {
      const used = new Map([[monthKey({ workspaceId: 'a', month: '2026-01-01' }), { events: 0, deliveries: before }]])
      const events = given.map((one) =>
        anEvent({
          ...one,
          quota: one.workspaceId === 'a' ? quota : null,
          allowance: one.workspaceId === 'a' ? 20 : null,
          key: null,
          fingerprint: '',
        }),
      )
      const verdicts = admit(events, aKnown({ used }))
      const reasons = (workspaceId: string): readonly (string | null)[] =>
        verdicts.flatMap((verdict, index) => {
          if (given[index]?.workspaceId !== workspaceId) return []
          if (verdict === 'admitted') return events[index]?.deliveries.map(({ pauseReason }) => pauseReason) ?? []
          return verdict.kind === 'beyond_allowance' ? verdict.deliveries.map(({ pauseReason }) => pauseReason) : []
        })
      const [limited, free] = [reasons('a'), reasons('b')]
      const left = Math.max(0, 20 - before)
      assert.deepEqual(
        limited.map((reason) => reason === null),
        limited.map((_reason, index) => index < left),
      )
      assert.ok(free.every((reason) => reason === null))
      assert.equal(
        verdicts.filter((verdict, index) => given[index]?.workspaceId === 'b' && verdict !== 'admitted').length,
        0,
      )
    }),
  )
})
