import assert from 'node:assert/strict'
import { test } from 'node:test'
import { firstViolation } from './seeds.ts'

test('planted: without the fence a stale result changes a row that belongs to another owner', () => {
  assert.match(firstViolation('no-fence', 2_000) ?? '', /under fence|moved from|was not open/)
})

test('planted: a commit that starts first attempts without the proof of the fence is found', () => {
  assert.match(firstViolation('unproven-start', 500) ?? '', /ingest under fence/)
})

test('planted: a new sender that does not know of an open breaker sends before the probe is due', () => {
  assert.match(firstViolation('no-breaker-handover', 500) ?? '', /before its probe was due|while its breaker is open/)
})

test('planted: a new sender that does not know the latest sends bursts a second time', () => {
  assert.match(firstViolation('double-burst', 200) ?? '', /its rate is/)
})

test('planted: a breaker whose probe never comes leaves its deliveries waiting', () => {
  assert.match(firstViolation('no-probe', 50) ?? '', /nothing hinders it|never reached an end|does not come to rest/)
})

test('planted: deliveries that are released but not counted exceed the allowance', () => {
  assert.match(firstViolation('uncounted-release', 100) ?? '', /was released as number|counts .* were released/)
})

test('planted: a delivery that waits for the allowance is sent when its destination is turned on', () => {
  assert.match(firstViolation('resumed-beyond', 200) ?? '', /waits for the allowance and was moved by resume/)
})

test('planted: the newest delivery is released first', () => {
  assert.match(firstViolation('newest-released', 200) ?? '', /which has waited longer/)
})

test('planted: a store that ignores keys starts a delivery before an earlier one with its key has ended', () => {
  assert.match(firstViolation('order-broken', 50) ?? '', /started before the earlier/)
})

test('planted: a sender that uses only the first secret it has read signs with a replaced one', () => {
  assert.match(firstViolation('stale-secret', 20) ?? '', /with a secret that was replaced/)
})

test('planted: an overlap in which the previous secret does not sign is found', () => {
  assert.match(firstViolation('no-overlap-signature', 20) ?? '', /without the signature of the previous secret/)
})

test('planted: an overlap that follows the clock of the machine ends too early or too late', () => {
  assert.match(firstViolation('wall-overlap', 50) ?? '', /after its overlap|whose overlap has not ended/)
})

test('planted: a sender that ignores the notice of a rotation is found', () => {
  assert.match(firstViolation('ignored-notice', 200) ?? '', /with a secret that was replaced/)
})

test('planted: a new sender that does not know the requests of previous ones exceeds the cap', () => {
  assert.match(firstViolation('cap-broken', 500) ?? '', /exceeds the cap/)
})

test('planted: without sweeps, deliveries that a suspension missed stay paused', () => {
  assert.match(firstViolation('no-sweep', 50) ?? '', /never reached an end: paused|does not come to rest/)
})

test('planted: an owner that never hands a lane to another one is found', () => {
  assert.match(firstViolation('hoard', 400) ?? '', /has held \d+ of \d+ lanes/)
})
