import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nextMonthAt } from '../../src/domain/workspace/month.ts'
import { sql } from '../../src/platform/db.ts'
import { advanceReplays } from '../../src/resources/delivery/replays/index.ts'
import type { Answer } from '../stage/harness.ts'
import {
  ALLOWANCE,
  world,
  beside,
  database,
  withLeft,
  used,
  states,
  send,
  auditOf,
  turnMonth,
  advance,
  aTarget,
  onAllowanceStage,
} from '../stage/allowance-stage.ts'

onAllowanceStage()

/** The ids of the deliveries without their prefix, newest first. */
async function listedIds(): Promise<readonly string[]> {
  return (await world.admin('GET', 'deliveries')).body.deliveries.map(({ id }: { id: string }) =>
    id.slice('dlv_'.length),
  )
}

/** Deliveries that have failed, and their public ids. */
async function failedOnes(count: number): Promise<readonly string[]> {
  await aTarget()
  await send(count)
  await database.run(sql`update deliveries set state = 'failed', next_attempt_at = null`)
  return (await listedIds()).map((id) => `dlv_${id}`)
}

test('a replay counts; with no allowance left it gets 429 delivery_allowance_exhausted with retry_after and upgrade_url, and changes nothing', async () => {
  const [one, other] = await failedOnes(2)
  await withLeft(1)
  assert.equal((await world.admin('POST', `deliveries/${one}/replay`)).body.delivery.state, 'pending')
  assert.equal(await used(), ALLOWANCE)
  const audited = (await auditOf('replay_delivery')).length
  const { status, headers, body } = await world.admin('POST', `deliveries/${other}/replay`)
  const seconds = (nextMonthAt(world.clock.now()) - world.clock.now()) / 1_000
  assert.deepEqual(
    [status, body.reason, body.retry_after, headers.get('retry-after'), body.upgrade_url],
    [
      429,
      'delivery_allowance_exhausted',
      Math.ceil(seconds),
      String(Math.ceil(seconds)),
      `${world.baseUrl}/settings/billing`,
    ],
  )
  assert.deepEqual(
    [await states(), await used(), (await auditOf('replay_delivery')).length],
    [{ failed: 1, pending: 1 }, ALLOWANCE, audited],
  )
  assert.equal(
    (await world.admin('POST', `deliveries/${one}/replay`)).body.reason,
    'invalid_state',
    'a delivery that has not ended is refused for that cause',
  )
})

test('of 30 simultaneous replays at two processes with an allowance of 5 left, exactly 5 are sent', async () => {
  const ids = await failedOnes(30)
  await withLeft(5)
  const answers = await Promise.all(
    ids.map((id, n) => (n % 2 === 0 ? world : beside).admin('POST', `deliveries/${id}/replay`)),
  )
  assert.deepEqual(
    [200, 429].map((status) => answers.filter((answer) => answer.status === status).length),
    [5, 25],
  )
  assert.deepEqual([await states(), await used()], [{ pending: 5, failed: 25 }, ALLOWANCE])
})

test('a delivery that waits for the allowance can be canceled and then replayed; a retry or a replay reports the cause of the wait', async () => {
  await aTarget()
  await withLeft(0)
  await send(1)
  const [id] = (await listedIds()).map((one) => `dlv_${one}`)
  for (const verb of ['retry', 'replay']) {
    const { status, body } = await world.admin('POST', `deliveries/${id}/${verb}`)
    assert.deepEqual([status, body.reason], [409, 'invalid_state'])
    assert.match(body.error, /used up.*next month/)
  }
  assert.equal((await world.admin('POST', `deliveries/${id}/cancel`)).body.delivery.state, 'cancelled')
  assert.equal((await world.admin('POST', `deliveries/${id}/replay`)).body.reason, 'delivery_allowance_exhausted')
  await withLeft(1)
  assert.equal((await world.admin('POST', `deliveries/${id}/replay`)).body.delivery.state, 'pending')
})

const replayAll = (more: object = {}): Promise<Answer> =>
  world.admin('POST', 'deliveries/replays', { filter: { state: ['failed'] }, rate_per_second: 1_000, ...more })

test('the plan of a bulk replay reports the remaining allowance and whether it suffices; with none left it is refused', async () => {
  await failedOnes(3)
  assert.equal((await replayAll({ dry_run: true })).body.plan.allowance, null)
  await withLeft(3)
  assert.deepEqual((await replayAll({ dry_run: true })).body.plan.allowance, { left: 3, suffices: true })
  await withLeft(2)
  assert.deepEqual((await replayAll({ dry_run: true })).body.plan.allowance, { left: 2, suffices: false })
  await withLeft(0)
  assert.deepEqual((await replayAll({ dry_run: true })).body.plan.allowance, { left: 0, suffices: false })
  const refused = await replayAll()
  assert.deepEqual(
    [refused.status, refused.body.reason, typeof refused.body.retry_after],
    [429, 'delivery_allowance_exhausted', 'number'],
  )
  const [{ id }] = (await world.admin('GET', 'destinations')).body.destinations
  const recover = await world.admin('POST', `destinations/${id}/recover`, { since: '2026-01-01T00:00:00Z' })
  assert.deepEqual([recover.status, recover.body.reason], [429, 'delivery_allowance_exhausted'])
  assert.equal((await world.admin('GET', 'deliveries/replays')).body.replays.length, 0)
})

const run = async (): Promise<void> => {
  await Promise.all([advanceReplays(world.app.deps), advanceReplays(beside.app.deps)])
  advance(2_000)
}

test('a bulk replay that exhausts the allowance pauses there, and resumes by itself when there is room again', async () => {
  await failedOnes(10)
  await withLeft(4)
  const { replay } = (await replayAll()).body
  const look = async (): Promise<Answer['body']> =>
    (await world.admin('GET', `deliveries/replays/${replay.id}`)).body.replay
  await run()
  const stopped = await look()
  assert.deepEqual(
    [stopped.state, stopped.pause_reason, stopped.replayed, stopped.ended_at],
    ['paused', 'allowance_used', 4, null],
  )
  assert.deepEqual([await states(), await used()], [{ retrying: 4, failed: 6 }, ALLOWANCE])
  const resume = await world.admin('POST', `deliveries/replays/${replay.id}/resume`)
  assert.deepEqual([resume.status, resume.body.reason], [429, 'delivery_allowance_exhausted'])
  assert.equal((await look()).state, 'paused')
  await withLeft(5)
  await run()
  assert.deepEqual([(await look()).state, (await look()).replayed, await used()], ['paused', 9, ALLOWANCE])
  turnMonth()
  for (let n = 0; n < 3; n += 1) await run()
  const ended = await look()
  assert.deepEqual([ended.state, ended.pause_reason, ended.replayed, ended.skipped], ['done', null, 10, 0])
  assert.deepEqual([await states(), await used()], [{ retrying: 10 }, 1])
})

test('a bulk replay that needs exactly the remaining allowance ends as done', async () => {
  await failedOnes(4)
  await withLeft(4)
  const { replay } = (await replayAll()).body
  for (let n = 0; n < 3; n += 1) {
    await advanceReplays(world.app.deps)
    advance(2_000)
  }
  assert.equal((await world.admin('GET', `deliveries/replays/${replay.id}`)).body.replay.state, 'done')
  assert.deepEqual([await states(), await used()], [{ retrying: 4 }, ALLOWANCE])
})
