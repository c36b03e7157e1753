import assert from 'node:assert/strict'
import { test } from 'node:test'
import { heldBy, type HeldBy } from './holds.ts'
import { deliveryLight, destinationLight, endpointLight, type DestinationLit } from './lights.ts'

const BREAKER = { state: 'closed', failures_in_row: 0 } as const
const ON: DestinationLit = { enabled: true, disabled_reason: null, breaker: BREAKER }

test('a destination is on only when nothing is wrong with it', () => {
  const words: readonly (readonly [DestinationLit, string])[] = [
    [ON, 'ok on'],
    [{ ...ON, breaker: { ...BREAKER, failures_in_row: 1 } }, 'retry failing'],
    [{ ...ON, breaker: { state: 'open', failures_in_row: 10 } }, 'fail breaker open'],
    [{ ...ON, breaker: { state: 'half_open', failures_in_row: 10 } }, 'fail probing'],
    [{ ...ON, breaker: { state: 'recovering', failures_in_row: 0 } }, 'retry recovering'],
    [{ ...ON, enabled: false, disabled_reason: 'by_hand' }, 'paused off'],
    [{ ...ON, enabled: false, disabled_reason: 'gone' }, 'fail disabled: gone'],
    [{ ...ON, enabled: false, disabled_reason: 'failing' }, 'fail disabled: failing'],
  ]
  for (const [destination, wanted] of words) {
    const light = destinationLight(destination)
    assert.equal(`${light.tone} ${light.word}`, wanted)
  }
})

const word = (enabled: boolean, verification: { scheme: string; has_secret?: boolean }): string =>
  endpointLight({ enabled, verification }).word

test('an endpoint that checks signatures without a secret is not on', () => {
  assert.equal(word(true, { scheme: 'none' }), 'on')
  assert.equal(word(true, { scheme: 'hmac', has_secret: true }), 'on')
  assert.equal(word(true, { scheme: 'hmac', has_secret: false }), 'no secret')
  assert.equal(word(true, { scheme: 'hmac' }), 'no secret')
  assert.equal(word(false, { scheme: 'hmac', has_secret: false }), 'off')
})

const NOW = Date.parse('2026-01-01T00:00:00Z')
const at = (seconds: number): string => new Date(NOW + seconds * 1_000).toISOString()
const OPEN: HeldBy = {
  cause: 'breaker_open',
  last_error: 'timeout',
  last_status: null,
  since: at(-60),
  next_probe_at: at(30),
  behind: null,
}
// oxlint-disable-next-line max-params -- a delivery, and the reason why its destination holds back deliveries
const held = (state: string, next: string | null, hold: HeldBy | undefined, pause_reason: string | null = null) =>
  heldBy({ state, next_attempt_at: next, pause_reason }, { hold, now: NOW })?.cause ?? null

test('a destination holds back a delivery that would be sent before its next probe, and no other', () => {
  assert.equal(held('pending', at(0), OPEN), 'breaker_open')
  assert.equal(held('retrying', at(29), OPEN), 'breaker_open')
  assert.equal(held('retrying', at(31), OPEN), null)
  assert.equal(held('retrying', at(1), { ...OPEN, cause: 'rate_limit', next_probe_at: null }), null)
  assert.equal(held('pending', at(0), undefined), null)
  for (const state of ['sending', 'delivered', 'failed', 'cancelled']) assert.equal(held(state, null, OPEN), null)
  assert.equal(held('paused', null, undefined, 'destination_disabled'), 'destination_off')
  assert.equal(held('paused', null, undefined, 'allowance_used'), null)
})

test('a delivery that is held back has a separate light, and a paused one stays paused', () => {
  assert.deepEqual(deliveryLight({ state: 'pending', held_by: OPEN }), { tone: 'fail', word: 'held' })
  assert.deepEqual(deliveryLight({ state: 'retrying', held_by: { cause: 'order' } }), { tone: 'sending', word: 'held' })
  assert.deepEqual(deliveryLight({ state: 'pending', held_by: { cause: 'breaker_recovering' } }), {
    tone: 'retry',
    word: 'held',
  })
  assert.deepEqual(deliveryLight({ state: 'paused', held_by: { cause: 'destination_disabled' } }), {
    tone: 'fail',
    word: 'paused',
  })
  assert.deepEqual(deliveryLight({ state: 'paused', held_by: { cause: 'destination_off' } }), {
    tone: 'paused',
    word: 'paused',
  })
  assert.deepEqual(deliveryLight({ state: 'pending', held_by: null }), { tone: 'sending', word: 'pending' })
})
