import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DELIVER_LIMITS } from './limits.ts'
import { NO_OTHERS } from '../../domain/delivery/fair-share.ts'
import type { Event } from './ports.ts'
import { OK, SETTINGS, leasedOf, Bench, all, find, deliveriesOf } from '../../../test/stage/machine-bench.ts'

test('an idle machine sends as soon as the start is committed, and not before', () => {
  const bench = new Bench()
  const turn = find(bench.begin({ a: ['a1'] }), 'turn')
  assert.equal(bench.sent.length, 0)
  bench.commit(turn)
  assert.deepEqual(
    bench.sent.map((attempt) => attempt.attempt_id),
    ['a1#1'],
  )
})

test('a destination has at most max_in_flight requests, and an answer frees its slot before it is settled', () => {
  const bench = new Bench()
  const first = bench.begin({ a: ['a1', 'a2', 'a3', 'a4'] })
  assert.deepEqual(deliveriesOf(first), ['a1', 'a2'])
  bench.commit(find(first, 'turn'))
  const turn = find(bench.respond('a1#1'), 'turn')
  assert.deepEqual(
    turn.input.begins.map((begin) => begin.delivery_id),
    ['a3'],
  )
  assert.deepEqual(
    turn.input.settles.map(({ next, outcome }) => [next, outcome]),
    [['delivered', 'succeeded']],
  )
})

test('lanes take turns: the long backlog of one lane does not delay the first delivery of another', () => {
  const bench = new Bench({ beginsPerTurnMax: 4, turnsInFlightMax: 1 })
  const settings = { ...SETTINGS, max_in_flight: 100 }
  const backlog = Array.from({ length: 30 }, (_, index) => `a${index}`)
  assert.deepEqual(deliveriesOf(bench.begin({ a: backlog, b: ['b1'], c: ['c1'] }, settings)), ['a0', 'b1', 'c1', 'a1'])
})

test('at most two turns are in flight, and later work goes with the next one', () => {
  const bench = new Bench()
  const lanes = Object.fromEntries(['a', 'b', 'c', 'd'].map((lane) => [lane, [`${lane}1`]]))
  bench.commit(find(bench.begin(lanes), 'turn'))
  const effects = ['a', 'b', 'c', 'd'].flatMap((lane) => bench.respond(`${lane}1#1`))
  const turns = all(effects, 'turn')
  assert.deepEqual(
    turns.map(({ input }) => input.settles.length),
    [1, 1],
  )
  const [first] = turns
  assert.ok(first)
  assert.equal(find(bench.commit(first), 'turn').input.settles.length, 2)
})

test('results that arrive together go to the store in one turn, and the same turn fills the free slots', () => {
  const bench = new Bench({ turnsInFlightMax: 1 })
  bench.commit(find(bench.begin({ a: ['a1', 'a2', 'a3'] }), 'turn'))
  const responded = bench.sent.map(({ attempt_id }): Event => ({ type: 'responded', attempt_id, result: OK }))
  const turns = all(bench.machine.handleAll(responded, bench.now), 'turn')
  assert.deepEqual(
    turns.map(({ input }) => [input.settles.length, input.begins.length]),
    [[2, 1]],
  )
})

test('deliveries that fall due one by one are read together, and a later one is read when it falls due', () => {
  for (const [dueInMs, wakesInMs] of [
    [1, DELIVER_LIMITS.dueGapMs],
    [DELIVER_LIMITS.dueGapMs + 1, DELIVER_LIMITS.dueGapMs + 1],
  ] as const) {
    const bench = new Bench()
    const lease = find(bench.dispatch({ type: 'woke' }), 'lease')
    const grants = [{ lane: 'a', fence: 1, workspace: 'w', settings: SETTINGS, memory: null, orphans_end_in_ms: [] }]
    const granted = bench.dispatch({
      type: 'leased',
      op: lease.op,
      answer: { outcome: 'done', value: leasedOf(grants) },
    })
    bench.now = 10
    assert.equal(find(bench.answerReads(granted, {}, dueInMs), 'sleep').until, 10 + wakesInMs)
    bench.now += wakesInMs
    find(bench.dispatch({ type: 'woke' }), 'read')
  }
})

test('a recovering lane is read again after a read that failed while all its slots were taken', () => {
  const bench = new Bench()
  const settings = { ...SETTINGS, max_in_flight: 9 }
  const breaker = {
    state: 'recovering',
    failures_in_row: 0,
    failing_ms: null,
    opened_ms: 1,
    probe_in_ms: null,
    probe_wait_ms: 30_000,
    cap: 2,
    counts: [],
  } as const
  const grants = [
    {
      lane: 'd',
      fence: 1,
      workspace: 'w',
      settings,
      memory: { breaker, rate: null, breaker_resets: 0 },
      orphans_end_in_ms: [],
    },
  ]
  const lease = find(bench.dispatch({ type: 'woke' }), 'lease')
  const first = find(
    bench.dispatch({
      type: 'leased',
      op: lease.op,
      answer: { outcome: 'done', value: leasedOf(grants) },
    }),
    'read',
  )
  const lanes = [
    { lane: 'd', fence: 1, status: 'held' as const, settings, due: ['a', 'b', 'c', 'd'], next_due_in_ms: null },
  ]
  bench.commit(
    find(bench.dispatch({ type: 'read', op: first.op, answer: { outcome: 'done', value: { lanes } } }), 'turn'),
  )
  bench.now = DELIVER_LIMITS.sweepMs
  const full = bench.respond('b#1')
  bench.dispatch({ type: 'read', op: find(full, 'read').op, answer: { outcome: 'refused' } })
  bench.now += 200
  bench.commit(find(full, 'turn'))
  for (const id of ['a#1', 'c#1', 'd#1']) for (const turn of all(bench.respond(id), 'turn')) bench.commit(turn)
  bench.now += DELIVER_LIMITS.sweepMs
  find(bench.dispatch({ type: 'woke' }), 'read')
})

test('a lane whose breaker is open is given back soon after its note is committed, however late that is', () => {
  const bench = new Bench()
  const breaker = {
    state: 'closed',
    failures_in_row: 9,
    failing_ms: 1,
    opened_ms: null,
    probe_in_ms: null,
    probe_wait_ms: 0,
    cap: 0,
    counts: [],
  } as const
  const grants = [
    {
      lane: 'd',
      fence: 1,
      workspace: 'w',
      settings: SETTINGS,
      memory: { breaker, rate: null, breaker_resets: 0 },
      orphans_end_in_ms: [],
    },
  ]
  const lease = find(bench.dispatch({ type: 'woke' }), 'lease')
  const granted = bench.dispatch({
    type: 'leased',
    op: lease.op,
    answer: { outcome: 'done', value: leasedOf(grants) },
  })
  bench.commit(find(bench.answerReads(granted, { d: ['a'] }), 'turn'))
  const note = find(bench.respond('a#1', { ...OK, status: 503, retry_after_seconds: 600 }), 'turn')
  bench.now += DELIVER_LIMITS.laneIdleMs
  assert.deepEqual(all(bench.dispatch({ type: 'woke' }), 'release'), [])
  bench.commit(note)
  bench.now += DELIVER_LIMITS.sweepMs
  assert.deepEqual(find(bench.dispatch({ type: 'woke' }), 'release').input.lanes, [{ lane: 'd', fence: 1 }])
})

test('a refused turn is retried after a pause, with the same work', () => {
  const bench = new Bench()
  const turn = find(bench.begin({ a: ['a1'] }), 'turn')
  const effects = bench.dispatch({ type: 'turned', op: turn.op, answer: { outcome: 'refused' } })
  assert.deepEqual(all(effects, 'turn'), [])
  bench.now = find(effects, 'sleep').until
  assert.ok(bench.now >= 50 && bench.now <= 100)
  assert.deepEqual(deliveriesOf(bench.dispatch({ type: 'woke' })), ['a1'])
})

test('after a start with an unknown outcome nothing is sent: the lane is given back and leased under a new fence', () => {
  const bench = new Bench()
  const turn = find(bench.begin({ a: ['a1', 'a2', 'a3'] }), 'turn')
  bench.now = find(bench.dispatch({ type: 'turned', op: turn.op, answer: { outcome: 'unknown' } }), 'sleep').until
  const release = find(bench.dispatch({ type: 'woke' }), 'release')
  assert.deepEqual(release.input.lanes, [{ lane: 'a', fence: 1 }])
  const effects = bench.dispatch({ type: 'released', op: release.op, answer: { outcome: 'done', value: null } })
  assert.deepEqual(find(effects, 'lease').input.wanted, ['a'])
  assert.equal(bench.sent.length, 0)
})

test('after a start with an unknown outcome the lane waits until the requests in flight end and their results are settled', () => {
  const bench = new Bench()
  bench.commit(find(bench.begin({ a: ['a1', 'a2', 'a3'] }), 'turn'))
  const doubtful = find(bench.respond('a1#1'), 'turn')
  bench.now = find(bench.dispatch({ type: 'turned', op: doubtful.op, answer: { outcome: 'unknown' } }), 'sleep').until
  const again = find(bench.dispatch({ type: 'woke' }), 'turn')
  assert.deepEqual(
    again.input.settles.map((settle) => settle.attempt_id),
    ['a1#1'],
  )
  assert.deepEqual(again.input.begins, [])
  bench.commit(again)
  const last = find(bench.respond('a2#1'), 'turn')
  assert.deepEqual(all(bench.log, 'release'), [])
  find(bench.commit(last), 'release')
})

test('a start whose answer comes too late is interrupted instead of sent, and its delivery is due again immediately', () => {
  const bench = new Bench()
  const turn = find(bench.begin({ a: ['a1'] }), 'turn')
  bench.now += DELIVER_LIMITS.staleBeginMs + 1
  const [settle] = find(bench.commit(turn), 'turn').input.settles
  assert.equal(bench.sent.length, 0)
  assert.deepEqual([settle?.outcome, settle?.next, settle?.next_attempt_in_ms], ['interrupted', 'retrying', 0])
})

test('a hint that a lane is paused stops attempts that have started but are not sent yet', () => {
  const bench = new Bench()
  const turn = find(bench.begin({ a: ['a1'] }), 'turn')
  bench.dispatch({ type: 'disabled', lanes: ['a'] })
  assert.equal(find(bench.commit(turn), 'turn').input.settles[0]?.outcome, 'interrupted')
  assert.equal(bench.sent.length, 0)
})

test("nothing starts after the lease has expired, and a dead lease ends every lane and the owner's name", () => {
  const bench = new Bench()
  bench.commit(find(bench.begin({ a: ['a1', 'a2', 'a3'] }), 'turn'))
  bench.now += DELIVER_LIMITS.leaseMs
  const effects = bench.respond('a1#1')
  assert.deepEqual(find(effects, 'turn').input.begins, [])
  const renew = find(effects, 'renew')
  const next = bench.dispatch({
    type: 'renewed',
    op: renew.op,
    answer: { outcome: 'done', value: { alive: false, others: NO_OTHERS } },
  })
  assert.equal(bench.machine.load.lanes, 0)
  const names = new Set(all([...bench.log, ...next], 'lease').map(({ input }) => input.owner))
  assert.equal(names.size, 2)
})

test('a 410 response disables the destination and ends the work in its lane', () => {
  const bench = new Bench()
  bench.commit(find(bench.begin({ a: ['a1', 'a2', 'a3'] }), 'turn'))
  const turn = find(bench.respond('a1#1', { type: 'response', status: 410, retry_after_seconds: null }), 'turn')
  assert.deepEqual(turn.input.begins, [])
  assert.equal(turn.input.settles[0]?.disable_destination, 'gone')
  assert.equal(turn.input.settles[0]?.next, 'paused')
})

test('a failed delivery is due again as the schedule says', () => {
  const bench = new Bench()
  bench.commit(find(bench.begin({ a: ['a1'] }), 'turn'))
  const [settle] = find(bench.respond('a1#1', { type: 'failure', error_code: 'timeout' }), 'turn').input.settles
  assert.deepEqual([settle?.next, settle?.next_attempt_in_ms, settle?.error_code], ['retrying', 5_000, 'timeout'])
})

test('an answer for an unknown attempt, or a second answer for the same attempt, does nothing', () => {
  const bench = new Bench()
  bench.commit(find(bench.begin({ a: ['a1'] }), 'turn'))
  assert.equal(all(bench.respond('a1#1'), 'turn').length, 1)
  assert.deepEqual(
    [...bench.respond('a1#1'), ...bench.respond('x#1')].filter(({ type }) => type !== 'sleep'),
    [],
  )
})

test('the next lease call gives back grants whose answer was lost', () => {
  const bench = new Bench()
  const lease = find(bench.dispatch({ type: 'woke' }), 'lease')
  bench.now = find(bench.dispatch({ type: 'leased', op: lease.op, answer: { outcome: 'unknown' } }), 'sleep').until
  const again = find(bench.dispatch({ type: 'woke' }), 'lease')
  assert.equal(again.input.owner, lease.input.owner)
  assert.ok(again.input.serial > lease.input.serial)
  assert.equal(again.input.doubtful_from, lease.input.serial)
})

test('an idle lane is checked at every sweep and given back after a while', () => {
  const bench = new Bench()
  bench.begin({ a: [] })
  let looks = 0
  while (all(bench.log, 'release').length === 0) {
    bench.now += 500
    const effects = bench.dispatch({ type: 'woke' })
    looks += all(effects, 'read').length
    bench.answerReads(effects, {})
    assert.ok(bench.now < 60_000)
  }
  assert.ok(bench.now >= DELIVER_LIMITS.laneIdleMs)
  assert.ok(looks >= 4, `${looks} looks`)
})

test('a stopping machine starts nothing, waits for its requests, settles, releases its lanes, and reports that it has stopped', () => {
  const bench = new Bench()
  bench.commit(find(bench.begin({ a: ['a1', 'a2', 'a3'] }), 'turn'))
  bench.dispatch({ type: 'stop' })
  bench.respond('a1#1')
  bench.respond('a2#1')
  const turns = all(bench.log, 'turn').slice(1)
  assert.ok(turns.every(({ input }) => input.begins.length === 0))
  const effects = turns.flatMap((turn) => bench.commit(turn))
  const release = find(effects, 'release')
  assert.equal(release.input.lanes, 'all')
  find(bench.dispatch({ type: 'released', op: release.op, answer: { outcome: 'refused' } }), 'stopped')
  assert.deepEqual(bench.dispatch({ type: 'woke' }), [])
})

test('a stopping machine cuts off requests that take too long, then gives its lanes back and leaves the rest to recovery', () => {
  const bench = new Bench()
  bench.commit(find(bench.begin({ a: ['a1'] }), 'turn'))
  bench.dispatch({ type: 'stop' })
  bench.now += DELIVER_LIMITS.drainMs
  assert.deepEqual(
    bench.dispatch({ type: 'woke' }).map(({ type }) => type),
    ['cut', 'release'],
  )
  assert.deepEqual(bench.respond('a1#1'), [], 'a request that was cut off is no failure of the receiver')
})

test('an answer that arrives as the time of a stopping machine ends is still settled', () => {
  const bench = new Bench()
  bench.commit(find(bench.begin({ a: ['a1'] }), 'turn'))
  bench.dispatch({ type: 'stop' })
  bench.now += DELIVER_LIMITS.drainMs
  const effects = bench.respond('a1#1')
  assert.deepEqual(
    effects.map(({ type }) => type),
    ['turn', 'release'],
  )
  assert.deepEqual(
    find(effects, 'turn').input.settles.map(({ outcome }) => outcome),
    ['succeeded'],
  )
})

test('requests of previous owners take slots until the latest time at which they can end', () => {
  const bench = new Bench()
  const beginsAt = (now: number): number => {
    bench.now = now
    return all(bench.dispatch({ type: 'woke' }), 'turn').flatMap(({ input }) => input.begins).length
  }
  const early = all(bench.begin({ d: ['a', 'b', 'c'] }, SETTINGS, [3_000, 900]), 'turn')
  assert.equal(early.length, 0, 'both slots are taken')
  assert.equal(all(bench.log, 'sleep').at(-1)?.until, 900, 'it wakes when the first slot is free')
  assert.equal(beginsAt(899), 0)
  assert.equal(beginsAt(900), 1)
  assert.equal(beginsAt(2_999), 0)
})

test('the time that a start took is deducted from the preparation of its request, so that others know when the request ends', () => {
  const bench = new Bench()
  const turn = find(bench.begin({ a: ['a1'] }), 'turn')
  bench.now += 700
  const { timeout_ms, ends_in_ms } = find(bench.commit(turn), 'send')
  assert.deepEqual([timeout_ms, ends_in_ms], [15_000, 19_300])
})

test('the clock of the machine can start at any value, even below zero', () => {
  const bench = new Bench()
  bench.now = -1e12
  bench.commit(find(bench.begin({ a: ['a1'] }), 'turn'))
  assert.equal(bench.sent.length, 1)
})

const backlog = (lane: string) => Array.from({ length: 1_500 }, (_, index) => `${lane}${index}`)

test('two destinations that take all slots of their workspace do not delay the first delivery of another one', () => {
  const bench = new Bench()
  const settings = { ...SETTINGS, max_in_flight: 1_000 }
  bench.settings = settings
  bench.begin({ 'w/a': backlog('a'), 'w/b': backlog('b') }, settings)
  for (const effect of bench.log) if (effect.type === 'turn') bench.commit(effect)
  const sent = bench.sent.length
  assert.ok(sent > 1_400 && sent < 2_000, `${sent}`)
  const lease = find(bench.dispatch({ type: 'hinted', lanes: ['v/c'] }), 'lease')
  const grant = { lane: 'v/c', fence: 1, workspace: 'v', settings, memory: null, orphans_end_in_ms: [] }
  const granted = bench.dispatch({
    type: 'leased',
    op: lease.op,
    answer: { outcome: 'done', value: leasedOf([grant]) },
  })
  assert.deepEqual(deliveriesOf(bench.answerReads(granted, { 'v/c': ['c1'] })), ['c1'])
})

/**
 * Gives every lane one delivery and sends as many as the limits allow. Returns the most store calls that a hint about
 * one lane causes.
 */
function asksOf(lanes: number): { readonly sent: number; readonly most: number } {
  const bench = new Bench({ lanesPerLeaseMax: lanes })
  const due = Object.fromEntries(Array.from({ length: lanes }, (_, index) => [`l${index}`, [`d${index}`]]))
  bench.begin(due)
  // Works through the queue of turns and reads until all is sent.
  for (let at = 0; at < bench.log.length; at += 1) {
    const effect = bench.log[at]
    if (effect?.type === 'turn') bench.commit(effect)
    if (effect?.type === 'read') bench.answerReads([effect], due)
  }
  const { sent } = bench
  const asked = sent.slice(0, 10).map(({ lane }) => {
    const effects = bench.dispatch({ type: 'hinted', lanes: [lane] })
    return all(effects, 'read').flatMap(({ input }) => input.reads).length + all(effects, 'turn').length
  })
  return { sent: sent.length, most: Math.max(...asked) }
}

test('with ten thousand lanes, a hint about one lane makes no more store calls than with ten lanes', () => {
  const few = asksOf(10)
  const many = asksOf(10_000)
  assert.equal(few.sent, 10)
  assert.equal(many.sent, DELIVER_LIMITS.requestsMax)
  assert.ok(many.most <= few.most, `${few.most} and ${many.most}`)
})
