import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createUuidv7 } from '../../platform/ids.ts'
import { isSampled, readTraceparent, traceIdOf, traceparentOf } from './trace-context.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const PARENT = '00f067aa0ba902b7'

test('a traceparent is read by the grammar of W3C', () => {
  assert.deepEqual(readTraceparent(`00-${TRACE}-${PARENT}-01`), { traceId: TRACE, spanId: PARENT, flags: 1 })
  assert.deepEqual(readTraceparent(`cc-${TRACE}-${PARENT}-00-more`)?.traceId, TRACE, 'a later version may be longer')
})

test('anything else is not a traceparent', () => {
  for (const text of [
    '',
    undefined,
    null,
    `ff-${TRACE}-${PARENT}-01`,
    `00-${TRACE}-${PARENT}-01-more`,
    `00-${TRACE.toUpperCase()}-${PARENT}-01`,
    `00-${'0'.repeat(32)}-${PARENT}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE}-${PARENT}`,
    `00-${TRACE}-${PARENT}-0`,
    `00-${TRACE}-${PARENT}-01, 00-${TRACE}-${PARENT}-01`,
  ])
    assert.equal(readTraceparent(text), undefined, String(text))
})

test('the header that a delivery carries is valid', () => {
  const uuid = createUuidv7()
  const [submissionId, attemptId] = [uuid(Date.parse('2026-01-01')), uuid(Date.parse('2026-01-01'))]
  const read = readTraceparent(traceparentOf({ submissionId, attemptId }))
  assert.equal(read?.traceId, traceIdOf(submissionId))
  assert.equal(read?.flags, 1)
})

test('a rate is the share of sampled events: 0 samples none, and 1 all', () => {
  const uuid = createUuidv7()
  const traces = Array.from({ length: 4_000 }, () => traceIdOf(uuid(Date.parse('2026-01-01'))))
  const share = (rate: number): number => traces.filter((trace) => isSampled(trace, rate)).length / traces.length
  assert.equal(share(0), 0)
  assert.equal(share(1), 1)
  assert.ok(Math.abs(share(0.25) - 0.25) < 0.05, `${share(0.25)} of the events are sampled at 0.25`)
  const few = traces.filter((trace) => isSampled(trace, 0.1))
  assert.ok(
    few.every((trace) => isSampled(trace, 0.5)),
    'an event of a small share is in every larger one',
  )
})
