import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeId, encodeId } from '@postroad/contract'
import type { Deps } from '../../src/context.ts'
import { sql, type Database } from '../../src/platform/db.ts'
import { aWebhook, post, statement } from '../stage/fixtures.ts'
import { still, database, type Body, deliveriesIn, replayOf, run, onReplayStage } from '../stage/replay-stage.ts'

onReplayStage()

const begin = async (filter: object, more: object = {}): Promise<Body> => {
  const answer = await still.admin('POST', 'deliveries/replays', { filter, ...more })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  return answer.body
}
const ids = (rows: readonly { readonly id: string }[]): readonly string[] => rows.map((row) => row.id)

test('the plan reports the count, the size, the duration, the destinations and the repeats; with dry_run nothing else happens', async () => {
  const [failed, delivered] = [await deliveriesIn('failed', 4), await deliveriesIn('delivered', 2)]
  const had = (await still.admin('GET', 'audit')).body.audit.length
  const { plan, replay } = await begin({ state: ['failed', 'delivered'] }, { rate_per_second: 1, dry_run: true })
  assert.equal(replay, null)
  assert.deepEqual(plan, {
    count: 6,
    complete: true,
    bytes: 6 * '{"n":0}'.length,
    minutes: 0.1,
    duplicates: 2,
    allowance: null,
    destinations: [
      { id: failed.destination.id, count: 4 },
      { id: delivered.destination.id, count: 2 },
    ],
  })
  await run()
  assert.deepEqual(
    [await failed.states(), await delivered.states()],
    [Array(4).fill('failed'), Array(2).fill('delivered')],
  )
  assert.equal((await still.admin('GET', 'audit')).body.audit.length, had)
})

test('a filter that matches nothing starts no replay', async () => {
  assert.deepEqual(await begin({ destination_id: encodeId('destination', still.app.deps.uuid()) }), {
    plan: { count: 0, complete: true, bytes: 0, minutes: 0, duplicates: 0, allowance: null, destinations: [] },
    replay: null,
  })
})

test('each delivery becomes due once, oldest first, with a fresh schedule, at a separate moment: no second exceeds the pace', async () => {
  const those = await deliveriesIn('failed', 23)
  const { replay, plan } = await begin({ destination_id: those.destination.id }, { rate_per_second: 7 })
  assert.deepEqual(
    [plan.count, replay.total, replay.state, replay.rate_per_second, replay.replayed],
    [23, 23, 'running', 7, 0],
  )
  const pages: number[] = []
  while ((await replayOf(replay.id)).state === 'running') {
    await run()
    pages.push((await replayOf(replay.id)).replayed)
    still.clock.advance(500)
  }
  assert.ok(pages.length > 3 && pages[0] === 11, `not all at once: ${pages.join(' ')}`)
  const made = await those.madeDue()
  assert.deepEqual(ids(made), ids(await those.rows()), 'in the order of their ids, each once')
  const times = made.map((row) => row.at.getTime())
  for (const [index, at] of times.entries())
    assert.ok(times.filter((other) => other >= at && other < at + 1_000).length <= 7, `the second from ${index}`)
  for (const row of await those.rows())
    assert.deepEqual([row.state, row.next_trigger, row.failure_count], ['retrying', 'replay', 0])
  const ended = await replayOf(replay.id)
  assert.deepEqual([ended.state, ended.replayed, ended.skipped, ended.ended_at !== null], ['done', 23, 0, true])
})

test('a worker that was away does not catch up in a burst', async () => {
  const those = await deliveriesIn('failed', 30)
  await begin({ destination_id: those.destination.id }, { rate_per_second: 10 })
  await run()
  const early = (await those.madeDue()).length
  still.clock.advance(60_000)
  const back = still.clock.now()
  while ((await those.madeDue()).length < 30) {
    await run()
    still.clock.advance(500)
  }
  const times = (await those.madeDue()).map((row) => row.at.getTime())
  assert.ok(
    times.slice(early).every((at) => at >= back),
    'nothing is due in the time that it was away',
  )
  for (const at of times) assert.ok(times.filter((other) => other >= at && other < at + 1_000).length <= 10)
})

test('a replay can be paused, resumed and canceled; deliveries that it has not reached stay unchanged', async () => {
  const those = await deliveriesIn('failed', 10)
  const { replay } = await begin({ destination_id: those.destination.id }, { rate_per_second: 2 })
  const ask = (verb: string) => still.admin('POST', `deliveries/replays/${replay.id}/${verb}`)
  await run()
  const { replayed } = await replayOf(replay.id)
  assert.equal((await ask('pause')).body.replay.state, 'paused')
  still.clock.advance(10_000)
  await run()
  assert.equal((await replayOf(replay.id)).replayed, replayed)
  assert.equal((await ask('pause')).body.reason, 'invalid_state')
  assert.equal((await ask('resume')).body.replay.state, 'running')
  await run()
  assert.ok((await replayOf(replay.id)).replayed > replayed)
  const done = (await replayOf(replay.id)).replayed
  assert.equal((await ask('cancel')).body.replay.state, 'cancelled')
  still.clock.advance(10_000)
  await run()
  assert.deepEqual(
    [(await replayOf(replay.id)).replayed, (await those.states()).filter((state) => state === 'failed').length],
    [done, 10 - done],
  )
  for (const verb of ['pause', 'resume', 'cancel']) assert.match((await ask(verb)).body.error, /start a new replay/)
  const actions = (await still.admin('GET', `audit?target=${replay.id}`)).body.audit.map((row: Body) => row.action)
  assert.deepEqual(actions.toReversed(), ['create_replay', 'pause_replay', 'resume_replay', 'cancel_replay'])
})

/** A process that dies before its commit: the writes of the transaction are gone. */
function dying(deps: Deps): Deps {
  const doomed = (inner: Database): Database => ({
    ...inner,
    forWorkspace: (id) => doomed(inner.forWorkspace(id)),
    transaction: (work) =>
      inner.transaction(async (db) => {
        await work(db)
        throw new Error('killed')
      }),
  })
  return { ...deps, database: doomed(deps.database) }
}

test('a process that dies in the middle of a page has replayed none of it, and the next one continues: each delivery once, also with two processes', async () => {
  const those = await deliveriesIn('failed', 40)
  const { replay } = await begin({ destination_id: those.destination.id }, { rate_per_second: 20 })
  await run()
  const { replayed } = await replayOf(replay.id)
  still.clock.advance(1_000)
  let killed = 0
  const retryLog = { ...still.app.deps.retryLog, warn: () => void (killed += 1) }
  await run({ ...dying(still.app.deps), retryLog })
  assert.equal(killed, 1)
  assert.equal((await replayOf(replay.id)).replayed, replayed)
  while ((await replayOf(replay.id)).state === 'running') {
    await Promise.all([run(), run()])
    still.clock.advance(500)
  }
  assert.deepEqual(ids(await those.madeDue()), ids(await those.rows()))
  assert.equal((await replayOf(replay.id)).replayed, 40)
})

test('a page is bounded however rare a match is, and each match is found', async () => {
  const rare = await deliveriesIn('failed', 30, (n) => ({ n, kind: n % 10 === 0 ? 'Rare Thing' : 'plain' }))
  const of = { destination_id: rare.destination.id }
  const found = async (filter: object): Promise<number> =>
    (await begin({ ...of, ...filter }, { dry_run: true })).plan.count
  assert.equal(await found({ q: 'rare thing' }), 3)
  assert.equal(await found({ conditions: [{ path: 'n', op: 'gte', value: 25 }] }), 5)
  assert.equal(await found({ conditions: [{ path: 'n', op: 'gte', value: 25 }], q: 'rare' }), 0)
  assert.equal(await found({ dataset: rare.dataset }), 30)
  assert.equal(await found({ dataset: 'nothing' }), 0)
  assert.equal(await found({ state: ['cancelled', 'delivered'] }), 0)
  const [first] = await rare.rows()
  assert.equal(
    await found({
      record_id: (await still.admin('GET', `deliveries/${encodeId('delivery', first?.id ?? '')}`)).body.delivery
        .record_id,
    }),
    1,
  )
  const { webhooks } = (await still.admin('GET', 'webhooks')).body
  assert.equal(await found({ webhook_id: webhooks.find((one: Body) => still.endpoint === one.public_url).id }), 30)
  assert.equal(await found({ webhook_id: (await aWebhook(still)).id }), 0)
  assert.equal(await found({ from: new Date(still.clock.now() + 1).toISOString() }), 0)
  assert.equal(await found({ to: '2020-01-01T00:00:00Z' }), 0)
  const { replay } = await begin({ ...of, q: 'rare thing' }, { rate_per_second: 1_000 })
  await run()
  assert.equal((await replayOf(replay.id)).state, 'done')
  assert.deepEqual(
    (await rare.states()).map((state, n) => (state === 'retrying' ? n : -1)).filter((n) => n >= 0),
    [0, 10, 20],
  )
})

test('an invalid filter is refused with the place of the fault, and so is a pattern outside the dialect', async () => {
  for (const [filter, words] of [
    [{ state: [] }, /filter\.state/],
    [{ state: ['sending'] }, /filter\.state/],
    [{ destination_id: 'nonsense' }, /filter\.destination_id/],
    [{ frobnicate: 1 }, /frobnicate/],
    [{ conditions: [{ path: 'a', op: 'regex', value: '(a+)+' }] }, /filter\.conditions/],
  ] as const) {
    const answer = await still.admin('POST', 'deliveries/replays', { filter, dry_run: true })
    assert.deepEqual([answer.status, answer.body.reason], [400, 'invalid_request'])
    assert.match(answer.body.error, words)
  }
  for (const rate_per_second of [0, 1_001, 1.5])
    assert.equal((await still.admin('POST', 'deliveries/replays', { filter: {}, rate_per_second })).status, 400)
})

test('deliveries that were created after the call are left out, and deliveries that no longer match the filter are skipped', async () => {
  const those = await deliveriesIn('failed', 12)
  const { replay } = await begin({ destination_id: those.destination.id }, { rate_per_second: 4 })
  await run()
  const last = (await those.rows()).at(-1)?.id ?? ''
  await still.admin('POST', `deliveries/${encodeId('delivery', last)}/replay`)
  await post(`${still.endpoint}/${those.dataset}`, '{}')
  await database.run(
    sql`update deliveries set state = 'failed', next_attempt_at = null where state = 'pending' and destination_id = ${decodeId('destination', those.destination.id) ?? ''} and id > ${last}`,
  )
  for (let turn = 0; turn < 10; turn += 1) {
    still.clock.advance(1_000)
    await run()
  }
  const { state, replayed } = await replayOf(replay.id)
  assert.deepEqual([state, replayed], ['done', 11])
  assert.deepEqual((await those.states()).slice(-2), ['pending', 'failed'])
})

test('replays for a disabled destination are paused, and are sent when it is on; those for a deleted one are skipped', async () => {
  const [off, gone] = [await deliveriesIn('failed', 2), await deliveriesIn('failed', 2)]
  await still.admin('PATCH', `destinations/${off.destination.id}`, { enabled: false })
  await begin({ destination_id: off.destination.id })
  const { replay } = await begin({ destination_id: gone.destination.id })
  await still.admin('DELETE', `destinations/${gone.destination.id}`)
  await run()
  assert.deepEqual(await off.states(), ['paused', 'paused'])
  await still.admin('PATCH', `destinations/${off.destination.id}`, { enabled: true })
  assert.deepEqual(await off.states(), ['retrying', 'retrying'])
  const { state, replayed, skipped } = await replayOf(replay.id)
  assert.deepEqual([state, replayed, skipped, await gone.states()], ['done', 0, 2, ['failed', 'failed']])
})

test('a replay pauses while the workspace is suspended, and resumes afterwards', async () => {
  const those = await deliveriesIn('failed', 3)
  const { replay } = await begin({ destination_id: those.destination.id })
  await statement(database, 'update workspaces set suspended_at = now()')
  await run()
  assert.equal((await replayOf(replay.id)).replayed, 0)
  await statement(database, 'update workspaces set suspended_at = null')
  await run()
  assert.equal((await replayOf(replay.id)).replayed, 3)
})
