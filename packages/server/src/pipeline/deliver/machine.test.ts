import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DELIVER_LIMITS } from './limits.ts'
import { DeliveryMachine } from './machine.ts'
import type { DeliverLimits } from './limits.ts'
import { NO_OTHERS, type Others } from '../../domain/delivery/fair-share.ts'
import type { Begun, Effect, Event, Grant, HttpResult, Leased, TurnInput } from './ports.ts'

type EffectOf<Type extends Effect['type']> = Extract<Effect, { readonly type: Type }>

const OK: HttpResult = { type: 'response', status: 200, retry_after_seconds: null }
const SETTINGS = {
  max_in_flight: 2,
  schedule_seconds: [0, 5, 30],
  timeout_ms: 15_000,
  rate_limit: null,
  breaker_resets: 0,
  probes_asked: 0,
  ordered: false,
}

const leasedOf = (grants: readonly Grant[], others = NO_OTHERS): Leased => ({
  alive: true,
  grants,
  elsewhere: [],
  more: false,
  others,
  left: false,
})

/** A machine at a clock the test sets, and an obedient store in a few lines; what it refuses is up to the test. */
class Bench {
  readonly machine: DeliveryMachine
  now = 0
  sent: Begun[] = []
  log: Effect[] = []

  constructor(limits: Partial<DeliverLimits> = {}) {
    this.machine = new DeliveryMachine({ owner: 'p', random: () => 0.5, limits: { ...DELIVER_LIMITS, ...limits } })
  }

  tell(event: Event): Effect[] {
    const effects = this.machine.handle(event, this.now)
    this.log.push(...effects)
    for (const effect of effects) if (effect.type === 'send') this.sent.push(effect.attempt)
    return effects
  }

  /** Wakes it, grants these lanes, and answers its reads with these deliveries. */
  begin(
    due: Readonly<Record<string, readonly string[]>>,
    settings = SETTINGS,
    orphans_end_in_ms: readonly number[] = [],
  ): Effect[] {
    const lease = find(this.tell({ type: 'woke' }), 'lease')
    const grants = Object.keys(due).map((lane) => ({ lane, fence: 1, settings, memory: null, orphans_end_in_ms }))
    const value = leasedOf(grants)
    return this.answerReads(this.tell({ type: 'leased', op: lease.op, answer: { outcome: 'done', value } }), due)
  }

  answerReads(
    effects: readonly Effect[],
    due: Readonly<Record<string, readonly string[]>>,
    next_due_in_ms: number | null = null,
  ): Effect[] {
    return all(effects, 'read').flatMap(({ op, input }) => {
      const lanes = input.reads.map(({ lane, fence }) => ({
        lane,
        fence,
        status: 'held' as const,
        settings: SETTINGS,
        due: due[lane] ?? [],
        next_due_in_ms,
      }))
      return this.tell({ type: 'read', op, answer: { outcome: 'done', value: { lanes } } })
    })
  }

  /** The store commits the turn in full. */
  commit({ op, input }: EffectOf<'turn'>): Effect[] {
    const value = { begun: begunOf(input), applied: [], paused: [], lost: [] }
    return this.tell({ type: 'turned', op, answer: { outcome: 'done', value } })
  }

  respond(attempt_id: string, result = OK): Effect[] {
    return this.tell({ type: 'responded', attempt_id, result })
  }
}

function begunOf(input: TurnInput): Begun[] {
  return input.begins.map(({ lane, fence, delivery_id }) => {
    const attempt_id = `${delivery_id}#1`
    return { lane, fence, delivery_id, attempt_id, record_id: delivery_id, attempt_number: 1, failure_count: 0 }
  })
}

function all<Type extends Effect['type']>(effects: readonly Effect[], type: Type): EffectOf<Type>[] {
  return effects.filter((effect): effect is EffectOf<Type> => effect.type === type)
}

function find<Type extends Effect['type']>(effects: readonly Effect[], type: Type): EffectOf<Type> {
  const [effect] = all(effects, type)
  assert.ok(effect, `no ${type} in ${JSON.stringify(effects)}`)
  return effect
}

const deliveriesOf = (effects: readonly Effect[]) =>
  find(effects, 'turn').input.begins.map((begin) => begin.delivery_id)

test('an idle machine sends as soon as the begin is committed, and not before', () => {
  const bench = new Bench()
  const turn = find(bench.begin({ a: ['a1'] }), 'turn')
  assert.equal(bench.sent.length, 0)
  bench.commit(turn)
  assert.deepEqual(
    bench.sent.map((attempt) => attempt.attempt_id),
    ['a1#1'],
  )
})

test('a destination has at most max_in_flight requests; an answer frees its slot before it is settled', () => {
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

test('lanes take turns: a long backlog of one does not come before the first of another', () => {
  const bench = new Bench({ beginsPerTurnMax: 4, turnsInFlightMax: 1 })
  const settings = { ...SETTINGS, max_in_flight: 100 }
  const backlog = Array.from({ length: 30 }, (_, index) => `a${index}`)
  assert.deepEqual(deliveriesOf(bench.begin({ a: backlog, b: ['b1'], c: ['c1'] }, settings)), ['a0', 'b1', 'c1', 'a1'])
})

test('at most two turns are in flight; what comes meanwhile goes with the next one', () => {
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

test('results that come at once go to the store with one turn, and free slots are filled by the same', () => {
  const bench = new Bench({ turnsInFlightMax: 1 })
  bench.commit(find(bench.begin({ a: ['a1', 'a2', 'a3'] }), 'turn'))
  const responded = bench.sent.map(({ attempt_id }): Event => ({ type: 'responded', attempt_id, result: OK }))
  const turns = all(bench.machine.handleAll(responded, bench.now), 'turn')
  assert.deepEqual(
    turns.map(({ input }) => [input.settles.length, input.begins.length]),
    [[2, 1]],
  )
})

test('what falls due one by one is read together, and what falls due later at its moment', () => {
  for (const [dueInMs, wakesInMs] of [
    [1, DELIVER_LIMITS.dueGapMs],
    [DELIVER_LIMITS.dueGapMs + 1, DELIVER_LIMITS.dueGapMs + 1],
  ] as const) {
    const bench = new Bench()
    const lease = find(bench.tell({ type: 'woke' }), 'lease')
    const grants = [{ lane: 'a', fence: 1, settings: SETTINGS, memory: null, orphans_end_in_ms: [] }]
    const granted = bench.tell({
      type: 'leased',
      op: lease.op,
      answer: { outcome: 'done', value: leasedOf(grants) },
    })
    bench.now = 10
    assert.equal(find(bench.answerReads(granted, {}, dueInMs), 'sleep').until, 10 + wakesInMs)
    bench.now += wakesInMs
    find(bench.tell({ type: 'woke' }), 'read')
  }
})

test('a lane that recovers is read again after a read that came to nothing while it was full', () => {
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
    { lane: 'd', fence: 1, settings, memory: { breaker, rate: null, breaker_resets: 0 }, orphans_end_in_ms: [] },
  ]
  const lease = find(bench.tell({ type: 'woke' }), 'lease')
  const first = find(
    bench.tell({
      type: 'leased',
      op: lease.op,
      answer: { outcome: 'done', value: leasedOf(grants) },
    }),
    'read',
  )
  const lanes = [
    { lane: 'd', fence: 1, status: 'held' as const, settings, due: ['a', 'b', 'c', 'd'], next_due_in_ms: null },
  ]
  bench.commit(find(bench.tell({ type: 'read', op: first.op, answer: { outcome: 'done', value: { lanes } } }), 'turn'))
  bench.now = DELIVER_LIMITS.sweepMs
  const full = bench.respond('b#1')
  bench.tell({ type: 'read', op: find(full, 'read').op, answer: { outcome: 'refused' } })
  bench.now += 200
  bench.commit(find(full, 'turn'))
  for (const id of ['a#1', 'c#1', 'd#1']) for (const turn of all(bench.respond(id), 'turn')) bench.commit(turn)
  bench.now += DELIVER_LIMITS.sweepMs
  find(bench.tell({ type: 'woke' }), 'read')
})

test('a lane whose breaker is open is given back soon after its note, however late that is answered', () => {
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
      settings: SETTINGS,
      memory: { breaker, rate: null, breaker_resets: 0 },
      orphans_end_in_ms: [],
    },
  ]
  const lease = find(bench.tell({ type: 'woke' }), 'lease')
  const granted = bench.tell({
    type: 'leased',
    op: lease.op,
    answer: { outcome: 'done', value: leasedOf(grants) },
  })
  bench.commit(find(bench.answerReads(granted, { d: ['a'] }), 'turn'))
  const note = find(bench.respond('a#1', { ...OK, status: 503, retry_after_seconds: 600 }), 'turn')
  bench.now += DELIVER_LIMITS.laneIdleMs
  assert.deepEqual(all(bench.tell({ type: 'woke' }), 'release'), [])
  bench.commit(note)
  bench.now += DELIVER_LIMITS.sweepMs
  assert.deepEqual(find(bench.tell({ type: 'woke' }), 'release').input.lanes, [{ lane: 'd', fence: 1 }])
})

test('a refused turn is tried again after a pause, with the same work', () => {
  const bench = new Bench()
  const turn = find(bench.begin({ a: ['a1'] }), 'turn')
  const effects = bench.tell({ type: 'turned', op: turn.op, answer: { outcome: 'refused' } })
  assert.deepEqual(all(effects, 'turn'), [])
  bench.now = find(effects, 'sleep').until
  assert.ok(bench.now >= 50 && bench.now <= 100)
  assert.deepEqual(deliveriesOf(bench.tell({ type: 'woke' })), ['a1'])
})

test('after an unknown begin nothing is sent: the lane is given back and leased under a new fence', () => {
  const bench = new Bench()
  const turn = find(bench.begin({ a: ['a1', 'a2', 'a3'] }), 'turn')
  bench.now = find(bench.tell({ type: 'turned', op: turn.op, answer: { outcome: 'unknown' } }), 'sleep').until
  const release = find(bench.tell({ type: 'woke' }), 'release')
  assert.deepEqual(release.input.lanes, [{ lane: 'a', fence: 1 }])
  const effects = bench.tell({ type: 'released', op: release.op, answer: { outcome: 'done', value: null } })
  assert.deepEqual(find(effects, 'lease').input.wanted, ['a'])
  assert.equal(bench.sent.length, 0)
})

test('an unknown begin waits for the requests in flight, and for their results to be settled', () => {
  const bench = new Bench()
  bench.commit(find(bench.begin({ a: ['a1', 'a2', 'a3'] }), 'turn'))
  const doubtful = find(bench.respond('a1#1'), 'turn')
  bench.now = find(bench.tell({ type: 'turned', op: doubtful.op, answer: { outcome: 'unknown' } }), 'sleep').until
  const again = find(bench.tell({ type: 'woke' }), 'turn')
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

test('a begin whose answer is too old is not sent but interrupted, and due again at once', () => {
  const bench = new Bench()
  const turn = find(bench.begin({ a: ['a1'] }), 'turn')
  bench.now += DELIVER_LIMITS.staleBeginMs + 1
  const [settle] = find(bench.commit(turn), 'turn').input.settles
  assert.equal(bench.sent.length, 0)
  assert.deepEqual([settle?.outcome, settle?.next, settle?.next_attempt_in_ms], ['interrupted', 'retrying', 0])
})

test('a hint that a lane is paused stops what was begun and not yet sent', () => {
  const bench = new Bench()
  const turn = find(bench.begin({ a: ['a1'] }), 'turn')
  bench.tell({ type: 'halted', lanes: ['a'] })
  assert.equal(find(bench.commit(turn), 'turn').input.settles[0]?.outcome, 'interrupted')
  assert.equal(bench.sent.length, 0)
})

test('when the lease has run out nothing is begun, and a dead lease ends every lane and the name', () => {
  const bench = new Bench()
  bench.commit(find(bench.begin({ a: ['a1', 'a2', 'a3'] }), 'turn'))
  bench.now += DELIVER_LIMITS.leaseMs
  const effects = bench.respond('a1#1')
  assert.deepEqual(find(effects, 'turn').input.begins, [])
  const renew = find(effects, 'renew')
  const next = bench.tell({
    type: 'renewed',
    op: renew.op,
    answer: { outcome: 'done', value: { alive: false, others: NO_OTHERS } },
  })
  assert.equal(bench.machine.load.lanes, 0)
  const names = new Set(all([...bench.log, ...next], 'lease').map(({ input }) => input.owner))
  assert.equal(names.size, 2)
})

test('a 410 disables the destination and ends the work in its lane', () => {
  const bench = new Bench()
  bench.commit(find(bench.begin({ a: ['a1', 'a2', 'a3'] }), 'turn'))
  const turn = find(bench.respond('a1#1', { type: 'response', status: 410, retry_after_seconds: null }), 'turn')
  assert.deepEqual(turn.input.begins, [])
  assert.equal(turn.input.settles[0]?.disable_destination, 'gone')
  assert.equal(turn.input.settles[0]?.next, 'paused')
})

test('a failure is due again by the schedule, and the last one is final', () => {
  const bench = new Bench()
  bench.commit(find(bench.begin({ a: ['a1'] }), 'turn'))
  const [settle] = find(bench.respond('a1#1', { type: 'failure', error_code: 'timeout' }), 'turn').input.settles
  assert.deepEqual([settle?.next, settle?.next_attempt_in_ms, settle?.error_code], ['retrying', 5_000, 'timeout'])
})

test('an answer for an attempt nobody knows, or told twice, does nothing', () => {
  const bench = new Bench()
  bench.commit(find(bench.begin({ a: ['a1'] }), 'turn'))
  assert.equal(all(bench.respond('a1#1'), 'turn').length, 1)
  assert.deepEqual(
    [...bench.respond('a1#1'), ...bench.respond('x#1')].filter(({ type }) => type !== 'sleep'),
    [],
  )
})

test('a grant that may have happened unseen is given back by the next lease call', () => {
  const bench = new Bench()
  const lease = find(bench.tell({ type: 'woke' }), 'lease')
  bench.now = find(bench.tell({ type: 'leased', op: lease.op, answer: { outcome: 'unknown' } }), 'sleep').until
  const again = find(bench.tell({ type: 'woke' }), 'lease')
  assert.equal(again.input.owner, lease.input.owner)
  assert.ok(again.input.serial > lease.input.serial)
  assert.equal(again.input.doubtful_from, lease.input.serial)
})

test('an idle lane is looked at every sweep and given back after a while', () => {
  const bench = new Bench()
  bench.begin({ a: [] })
  let looks = 0
  while (all(bench.log, 'release').length === 0) {
    bench.now += 500
    const effects = bench.tell({ type: 'woke' })
    looks += all(effects, 'read').length
    bench.answerReads(effects, {})
    assert.ok(bench.now < 60_000)
  }
  assert.ok(bench.now >= DELIVER_LIMITS.laneIdleMs)
  assert.ok(looks >= 4, `${looks} looks`)
})

test('a stopping machine begins nothing, waits for its requests, settles, releases, and says so', () => {
  const bench = new Bench()
  bench.commit(find(bench.begin({ a: ['a1', 'a2', 'a3'] }), 'turn'))
  bench.tell({ type: 'stop' })
  bench.respond('a1#1')
  bench.respond('a2#1')
  const turns = all(bench.log, 'turn').slice(1)
  assert.ok(turns.every(({ input }) => input.begins.length === 0))
  const effects = turns.flatMap((turn) => bench.commit(turn))
  const release = find(effects, 'release')
  assert.equal(release.input.lanes, 'all')
  find(bench.tell({ type: 'released', op: release.op, answer: { outcome: 'refused' } }), 'stopped')
  assert.deepEqual(bench.tell({ type: 'woke' }), [])
})

test('a stopping machine breaks off requests that take too long, gives its lanes back after that, and leaves the rest to recovery', () => {
  const bench = new Bench()
  bench.commit(find(bench.begin({ a: ['a1'] }), 'turn'))
  bench.tell({ type: 'stop' })
  bench.now += DELIVER_LIMITS.drainMs
  assert.deepEqual(
    bench.tell({ type: 'woke' }).map(({ type }) => type),
    ['cut', 'release'],
  )
  assert.deepEqual(bench.respond('a1#1'), [], 'what was broken off is no failure of the receiver')
})

test('requests of previous owners that may be under way take slots until they have ended at the latest', () => {
  const bench = new Bench()
  const beginsAt = (now: number): number => {
    bench.now = now
    return all(bench.tell({ type: 'woke' }), 'turn').flatMap(({ input }) => input.begins).length
  }
  const early = all(bench.begin({ d: ['a', 'b', 'c'] }, SETTINGS, [3_000, 900]), 'turn')
  assert.equal(early.length, 0, 'both slots are taken')
  assert.equal(all(bench.log, 'sleep').at(-1)?.until, 900, 'it wakes when the first one is free')
  assert.equal(beginsAt(899), 0)
  assert.equal(beginsAt(900), 1)
  assert.equal(beginsAt(2_999), 0)
})

test('a request is given the rest of its patience to be prepared in, so that others know by when it has ended', () => {
  const bench = new Bench()
  const turn = find(bench.begin({ a: ['a1'] }), 'turn')
  bench.now += 700
  const { timeout_ms, ends_in_ms } = find(bench.commit(turn), 'send')
  assert.deepEqual([timeout_ms, ends_in_ms], [15_000, 19_300])
})

test('its clock may start anywhere, below zero too', () => {
  const bench = new Bench()
  bench.now = -1e12
  bench.commit(find(bench.begin({ a: ['a1'] }), 'turn'))
  assert.equal(bench.sent.length, 1)
})

/** Gives every lane one delivery, sends all it may, and gives the most lanes that one hint about one lane asks the store for. */
function asksOf(lanes: number): { readonly sent: number; readonly most: number } {
  const bench = new Bench({ lanesPerLeaseMax: lanes })
  const due = Object.fromEntries(Array.from({ length: lanes }, (_, index) => [`l${index}`, [`d${index}`]]))
  bench.begin(due)
  // Drains the queue of turns and reads until all is sent.
  for (let at = 0; at < bench.log.length; at += 1) {
    const effect = bench.log[at]
    if (effect?.type === 'turn') bench.commit(effect)
    if (effect?.type === 'read') bench.answerReads([effect], due)
  }
  const { sent } = bench
  const asked = sent.slice(0, 10).map(({ lane }) => {
    const effects = bench.tell({ type: 'hinted', lanes: [lane] })
    return all(effects, 'read').flatMap(({ input }) => input.reads).length + all(effects, 'turn').length
  })
  return { sent: sent.length, most: Math.max(...asked) }
}

test('ten thousand lanes: a hint about one lane asks for no more than with ten', () => {
  const few = asksOf(10)
  const many = asksOf(10_000)
  assert.equal(few.sent, 10)
  assert.equal(many.sent, DELIVER_LIMITS.requestsMax)
  assert.ok(many.most <= few.most, `${few.most} and ${many.most}`)
})

// Lanes are shared with other owners

const ONE_IDLE: Others = { owners: 1, lanes: 0 }
const AT_ONCE = { heldMsMin: 0, overShareByOneMs: 0, workingMs: 60_000 }

/** Its next sweep, and what the store says of the other owners. */
function sweep(bench: Bench, others: Others): Effect[] {
  bench.now += DELIVER_LIMITS.sweepMs
  const { op } = find(bench.tell({ type: 'woke' }), 'lease')
  return bench.tell({ type: 'leased', op, answer: { outcome: 'done', value: leasedOf([], others) } })
}

function released(bench: Bench, { op }: EffectOf<'release'>): Effect[] {
  return bench.tell({ type: 'released', op, answer: { outcome: 'done', value: null } })
}

test('an owner that holds more than its share for two sweeps hands the surplus over, and does not take it back by a hint', () => {
  const bench = new Bench({ heldMsMin: 0, workingMs: 60_000 })
  bench.begin({ a: [], b: [], c: [], d: [] })
  assert.deepEqual(all(sweep(bench, ONE_IDLE), 'release'), [])
  const release = find(sweep(bench, ONE_IDLE), 'release')
  assert.deepEqual(release.offered, ['a', 'b'])
  released(bench, release)
  assert.equal(bench.machine.load.lanes, 2)
  assert.deepEqual(all(bench.tell({ type: 'hinted', lanes: ['a', 'b'] }), 'lease'), [])
  bench.now += DELIVER_LIMITS.sweepMs
  const { input } = find(bench.tell({ type: 'woke' }), 'lease')
  assert.deepEqual([input.wanted, input.share], [[], { held: 2, avoid: ['a', 'b'], fairly: true }])
})

test('an owner without others keeps all its lanes', () => {
  const bench = new Bench({ heldMsMin: 0, workingMs: 60_000 })
  bench.begin({ a: [], b: [], c: [], d: [] })
  for (let round = 0; round < 3; round += 1) assert.deepEqual(all(sweep(bench, NO_OTHERS), 'release'), [])
})

test('a lane is handed over when its requests have ended, and begins nothing meanwhile', () => {
  const bench = new Bench(AT_ONCE)
  bench.commit(find(bench.begin({ a: ['a1', 'a2', 'a3'], b: ['b1', 'b2', 'b3'] }), 'turn'))
  assert.deepEqual(all(sweep(bench, ONE_IDLE), 'release'), [])
  const effects = ['a1#1', 'a2#1']
    .flatMap((id) => bench.respond(id))
    .flatMap((effect) => (effect.type === 'turn' ? bench.commit(effect) : []))
  assert.deepEqual(find([...effects, ...bench.tell({ type: 'woke' })], 'release').offered, ['a'])
  assert.deepEqual(
    bench.sent.map(({ delivery_id }) => delivery_id),
    ['a1', 'b1', 'a2', 'b2'],
  )
})

test('a lane whose requests do not end in time is not handed over but goes on', () => {
  const bench = new Bench(AT_ONCE)
  bench.commit(find(bench.begin({ a: ['a1', 'a2', 'a3'], b: ['b1', 'b2', 'b3'] }), 'turn'))
  sweep(bench, ONE_IDLE)
  bench.now += DELIVER_LIMITS.handOverMs
  const woken = bench.tell({ type: 'woke' })
  assert.deepEqual(all(woken, 'release'), [])
  bench.answerReads(all(bench.log, 'read').slice(-1), { a: ['a3'] })
  const turn = find(bench.respond('a1#1'), 'turn')
  assert.deepEqual(
    turn.input.begins.map(({ delivery_id }) => delivery_id),
    ['a3'],
  )
})

test('a lane that is paused while it is being handed over leaves for nobody, however long its requests take', () => {
  const bench = new Bench(AT_ONCE)
  bench.commit(find(bench.begin({ a: ['a1', 'a2'], b: ['b1', 'b2'] }), 'turn'))
  sweep(bench, ONE_IDLE)
  bench.tell({ type: 'halted', lanes: ['a', 'b'] })
  bench.now += DELIVER_LIMITS.handOverMs
  bench.tell({ type: 'woke' })
  const effects = ['a1#1', 'a2#1', 'b1#1', 'b2#1']
    .flatMap((id) => bench.respond(id))
    .flatMap((effect) => (effect.type === 'turn' ? bench.commit(effect) : []))
  assert.deepEqual(
    all([...effects, ...bench.log], 'release').flatMap(({ offered }) => offered),
    [],
  )
})

test('an owner that has its share leaves a hinted lane to the others for a moment, and takes it when they have not', () => {
  const bench = new Bench()
  bench.begin({ a: [], b: [] })
  sweep(bench, ONE_IDLE)
  assert.deepEqual(all(bench.tell({ type: 'hinted', lanes: ['c'] }), 'lease'), [])
  bench.now += DELIVER_LIMITS.othersFirstMs
  assert.deepEqual(find(bench.tell({ type: 'woke' }), 'lease').input.wanted, ['c'])
})

test('an owner takes of offered lanes as many as are missing of its share, and the rest when the others have not', () => {
  const bench = new Bench()
  const lease = find(bench.tell({ type: 'woke' }), 'lease')
  bench.tell({
    type: 'leased',
    op: lease.op,
    answer: { outcome: 'done', value: leasedOf([], { owners: 1, lanes: 4 }) },
  })
  const first = find(bench.tell({ type: 'offered', lanes: ['a', 'b', 'c'] }), 'lease')
  assert.equal(first.input.wanted.length, 2)
  bench.tell({ type: 'leased', op: first.op, answer: { outcome: 'done', value: leasedOf([], ONE_IDLE) } })
  bench.now += DELIVER_LIMITS.othersFirstMs
  const rest = find(bench.tell({ type: 'woke' }), 'lease')
  assert.deepEqual([...first.input.wanted, ...rest.input.wanted].toSorted(), ['a', 'b', 'c'])
})
