import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeId, Steps } from '@postroad/contract'
import { compileWorkflow } from './compile.ts'
import { InstanceRun } from './instance-run.ts'
import type { Instance, Place } from './instance.ts'

const UUID = '01890000-0000-7000-8000-000000000001'
const DESTINATION = encodeId('destination', UUID)
const NOW = Date.parse('2026-01-31T12:00:00Z')
const PLACE: Place = { destination: () => ({ enabled: true, orderKeyOf: undefined }), counted: false }

type Given = Readonly<Record<string, unknown>>

function anInstance(steps: readonly Given[], more: Partial<Instance> & { payload?: unknown } = {}): Instance {
  const { payload = { id: 7 }, ...rest } = more
  return {
    workspace_id: UUID,
    project_id: UUID,
    id: UUID,
    fence: 1,
    workflow: { id: UUID, version: 1 },
    program: compileWorkflow({ name: 'test', steps: Steps.parse(steps) }),
    record: { id: UUID, dataset: 'orders', hops: 0, root: UUID },
    record_stored: true,
    cursor: 0,
    attempt: 0,
    memory: { payload, received_at: '', chain: null, steps: {}, emitted: {}, seq: 0, open: null },
    awaited: undefined,
    ...rest,
  }
}

const run = (instance: Instance, { now = NOW, place = PLACE } = {}): InstanceRun =>
  new InstanceRun(instance, { now, uuid: () => UUID, place }).advance()

/** The same instance, claimed again where it stopped. */
const again = (before: InstanceRun, more: Partial<Instance> = {}): Instance => {
  const { instance, cursor, attempt, memory } = before
  return { ...instance, cursor, attempt, memory, fence: instance.fence + 1, ...more }
}

const emit = (more: Given = {}): Given => ({ id: 'made', type: 'emit_event', dataset: 'out', ...more })
const REFUSED = { ok: false, reason: 'overloaded', message: 'Too much.' } as const

test('a delay sleeps, and its output is the time at which it woke', () => {
  const asleep = run(anInstance([{ id: 'rest', type: 'delay', seconds: 60 }]))
  assert.deepEqual(asleep.stop, { kind: 'parked', state: 'sleeping', due_at: NOW + 60_000, wait: null })
  const woken = run(again(asleep), { now: NOW + 60_000 })
  assert.deepEqual(woken.stop, { kind: 'ended', state: 'completed', error: null })
  assert.deepEqual(woken.stepRuns[0]?.output, { woke_at: '2026-01-31T12:01:00.000Z' })
})

test('a delay until a time that has passed continues immediately, with one row', () => {
  const past = run(
    anInstance([{ id: 'rest', type: 'delay', until: '{{ payload.at }}' }], { payload: { at: '2020-01-01T00:00:00Z' } }),
  )
  assert.equal(past.stop.kind, 'ended')
  assert.deepEqual(
    past.stepRuns.map(({ seq, state }) => [seq, state]),
    [[0, 'succeeded']],
  )
})

test('a time that is not in RFC 3339 format fails the instance at its step', () => {
  const failed = run(
    anInstance([{ id: 'rest', type: 'delay', until: '{{ payload.at }}' }], { payload: { at: 'soon' } }),
  )
  assert.deepEqual([failed.stop.kind, failed.cursor], ['ended', 0])
  assert.match(JSON.stringify(failed.stop), /invalid_time/)
})

test('a refused event is tried again after pauses that double, and the last refusal fails the instance', () => {
  const retry = { max_attempts: 3, backoff_seconds: 10 }
  const first = run(anInstance([emit({ retry })])).emitted(REFUSED)
  assert.deepEqual(first.stop, { kind: 'parked', state: 'retrying', due_at: NOW + 10_000, wait: null })
  const second = run(again(first)).emitted(REFUSED)
  assert.deepEqual(second.stop, { kind: 'parked', state: 'retrying', due_at: NOW + 20_000, wait: null })
  const third = run(again(second)).emitted(REFUSED)
  assert.deepEqual(third.stop, {
    kind: 'ended',
    state: 'failed',
    error: { step_id: 'made', reason: 'overloaded', message: 'Too much.' },
  })
  assert.equal(third.cursor, 0, 'the step can be run again')
})

test('with on_error continue the next step runs, and sees the error', () => {
  const steps = [
    emit({ on_error: 'continue', retry: { max_attempts: 1 } }),
    emit({ id: 'next', data: '{{ steps.made.error.reason }}' }),
  ]
  const passed = run(anInstance(steps)).emitted(REFUSED)
  assert.deepEqual(passed.emission, { step_id: 'next', dataset: 'out', text: '"overloaded"' })
})

test('the outcome of an event can be applied twice, because a commit may be tried again', () => {
  const emitting = run(anInstance([emit()]))
  const outcomes = [1, 2].map(() => emitting.emitted({ ok: true, record_id: UUID }))
  assert.deepEqual(
    outcomes.map(({ stepRuns }) => stepRuns.length),
    [1, 1],
  )
  assert.equal(emitting.stepRuns.length, 0)
})

test('a branch takes the first arm that matches, then else, then nothing', () => {
  const arm = (name: string, value: number): Given => ({
    name,
    conditions: [{ path: 'id', equals: value }],
    steps: [emit({ id: name })],
  })
  const branch = {
    id: 'route',
    type: 'branch',
    branches: [arm('one', 1), arm('seven', 7)],
    else: [emit({ id: 'other' })],
  }
  const taken = (payload: unknown, step: Given = branch): unknown =>
    run(anInstance([step], { payload })).stepRuns[0]?.output
  assert.deepEqual(taken({ id: 7 }), { taken: 'seven' })
  assert.deepEqual(taken({ id: '7' }), { taken: 'else' })
  assert.deepEqual(taken({ id: 2 }, { ...branch, else: undefined }), { taken: null })
})

test('a wait on a value that the workflow does not have fails, because it could match anything', () => {
  const wait = {
    id: 'paid',
    type: 'wait_for_event',
    dataset: 'payments',
    conditions: [{ path: 'order', equals: '{{ payload.missing }}' }],
    timeout_seconds: 60,
  }
  assert.match(
    JSON.stringify(run(anInstance([wait])).stop),
    /compares with a value that does not exist in this workflow/,
  )
})

test('on_timeout stop completes the instance without the steps after the wait', () => {
  const wait = {
    id: 'paid',
    type: 'wait_for_event',
    dataset: 'payments',
    conditions: [{ path: 'order', equals: '{{ payload.id }}' }],
    timeout_seconds: 60,
    on_timeout: 'stop',
  }
  const ended = run(again(run(anInstance([wait, emit()]))), { now: NOW + 60_000 })
  assert.deepEqual(ended.stop, { kind: 'ended', state: 'completed', error: null })
  assert.deepEqual(ended.stepRuns[0]?.output, { timed_out: true, record_id: null, received_at: null, payload: null })
})

test('an instance checks an awaited delivery after longer and longer pauses, and its end is the output', () => {
  const step = { id: 'send', type: 'deliver', destination: DESTINATION, await: 'delivered', capture_response: true }
  const sent = run(anInstance([step]))
  assert.deepEqual(
    sent.deliveries.map(({ record_id }) => record_id),
    [UUID],
  )
  const awaited = { kind: 'delivery', id: UUID, state: 'retrying', last_status: 500, response_body: null } as const
  const waiting = run(again(sent, { awaited }), { now: NOW + 8_000 })
  assert.deepEqual(waiting.stop, {
    kind: 'parked',
    state: 'waiting',
    due_at: NOW + 16_000,
    wait: { kind: 'delivery', id: UUID },
  })
  const ended = run(
    again(waiting, {
      awaited: { ...awaited, state: 'delivered', last_status: 200, response_body: '{"id":12345678901234567890}' },
    }),
  )
  assert.equal(
    JSON.stringify(ended.stepRuns[0]?.output),
    `{"delivery_id":"${encodeId('delivery', UUID)}","status":"delivered","response_status":200,"response_body":{"id":12345678901234567890}}`,
  )
})

const failedAfter = (more: Given): string => {
  const sent = run(anInstance([{ id: 'send', type: 'deliver', destination: DESTINATION, await: 'delivered', ...more }]))
  const awaited = { kind: 'delivery', id: UUID, state: 'failed', last_status: 500, response_body: null } as const
  const { stop } = run(again(sent, { awaited }))
  return stop.kind === 'emitting' ? '' : stop.state
}

test('an awaited delivery that failed is sent again only when the step has a retry', () => {
  assert.deepEqual([failedAfter({}), failedAfter({ retry: {} })], ['failed', 'retrying'])
})

test('deliver sends the record of an earlier emit_event, with the key of its own payload', () => {
  const steps = [
    emit({ data: { key: 'k' } }),
    { id: 'send', type: 'deliver', destination: DESTINATION, record: 'made' },
  ]
  const place: Place = {
    destination: () => ({ enabled: true, orderKeyOf: ({ payload }) => JSON.stringify(payload) }),
    counted: true,
  }
  const own = '01890000-0000-7000-8000-000000000002'
  const [delivery] = run(anInstance(steps), { place }).emitted({ ok: true, record_id: own }).deliveries
  assert.deepEqual(delivery, {
    id: UUID,
    record_id: own,
    destination_id: UUID,
    pause_reason: 'allowance_used',
    order_key: '{"key":"k"}',
  })
})

test('memory beyond one MiB fails the instance', () => {
  const large = run(anInstance([{ id: 'rest', type: 'delay', seconds: 1 }], { payload: 'x'.repeat(1_100_000) }))
  assert.match(JSON.stringify(large.stop), /context_too_large/)
})

test('an instance that fails for its memory starts no AI run, and none of its steps waits', () => {
  const agent = { id: 'ask', type: 'run_agent', agent: encodeId('aiAgent', UUID) }
  const large = run(anInstance([agent], { payload: 'x'.repeat(1_100_000) }))
  assert.deepEqual([large.aiRuns, large.stepRuns.map(({ state }) => state)], [[], ['failed']])
})

test('a fault of the server ends the step that waited too, and a retry starts that step again', () => {
  const asleep = run(anInstance([{ id: 'rest', type: 'delay', seconds: 60 }]))
  const failed = run(again(asleep)).failing('internal')
  assert.deepEqual([failed.cursor, failed.stepRuns.map(({ seq, state }) => [seq, state])], [0, [[0, 'failed']]])
  assert.equal(run(again(failed)).stop.kind, 'parked')
})

test('without its definition an instance is canceled, and without its record it fails', () => {
  assert.match(JSON.stringify(run(anInstance([emit()], { program: undefined })).stop), /cancelled.*workflow_deleted/)
  assert.match(JSON.stringify(run(anInstance([emit()], { memory: undefined })).stop), /failed.*record_not_found/)
})
