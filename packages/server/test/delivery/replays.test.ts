import assert from 'node:assert/strict'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { decodeId, encodeId } from '@postroad/contract'
import type { Deps } from '../../src/context.ts'
import { sql, type Database } from '../../src/platform/db.ts'
import { advanceReplays } from '../../src/resources/delivery/replays/index.ts'
import { aDestination, aWebhook, behind, post, statement } from '../stage/fixtures.ts'
import { aWorld, eventually, type Answer, type World } from '../stage/harness.ts'

/** Many deliveries again. In `still` nothing moves by itself: the tests take the pages and read the rows. */
let still: World
let database: Database

before(async () => {
  still = await aWorld({ env: { ROLES: 'web' } })
  database = behind(still)
  await statement(database, 'create table made_due (id uuid, at timestamptz)')
  await statement(database, 'grant all on made_due to public')
  await statement(
    database,
    `create function note_due() returns trigger language plpgsql as $$
       begin insert into made_due values (new.id, new.next_attempt_at); return null; end $$`,
  )
  await statement(
    database,
    `create trigger note_due after update of state on deliveries for each row when (new.next_trigger = 'replay') execute function note_due()`,
  )
})
after(async () => {
  await database.close()
  await still.stop()
})

type Body = Answer['body']

let datasets = 0

/** Events for a destination of their own whose deliveries have come to this state. */
async function deliveriesIn(
  state: 'failed' | 'cancelled' | 'delivered',
  count: number,
  payload: (index: number) => object = (n) => ({ n }),
) {
  datasets += 1
  const dataset = `d${datasets}`
  const { destination } = await aDestination(still, { url: 'https://example.com/', datasets: [dataset] })
  for (let index = 0; index < count; index += 1)
    assert.equal((await post(`${still.endpoint}/${dataset}`, JSON.stringify(payload(index)))).status, 201)
  const uuid = decodeId('destination', destination.id) ?? ''
  await database.run(
    sql`update deliveries set state = ${state}, next_attempt_at = null, attempt_count = 3, failure_count = 3 where destination_id = ${uuid}`,
  )
  const rows = () =>
    database.many<{ id: string; state: string; next_trigger: string; failure_count: number; at: Date | null }>(sql`
    select id, state, next_trigger, failure_count, next_attempt_at as at from deliveries where destination_id = ${uuid} order by id
  `)
  return {
    dataset,
    destination,
    rows,
    states: async () => (await rows()).map((row) => row.state),
    madeDue: () =>
      database.many<{ id: string; at: Date }>(
        sql`select m.id, m.at from made_due m join deliveries d on d.id = m.id where d.destination_id = ${uuid} order by m.at`,
      ),
  }
}

const begin = async (filter: object, more: object = {}): Promise<Body> => {
  const answer = await still.admin('POST', 'deliveries/replays', { filter, ...more })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  return answer.body
}
const replayOf = async (id: string): Promise<Body> => (await still.admin('GET', `deliveries/replays/${id}`)).body.replay
const run = (deps: Deps = still.app.deps): Promise<void> => advanceReplays(deps)
const ids = (rows: readonly { readonly id: string }[]): readonly string[] => rows.map((row) => row.id)

test('the plan says how many, how large, how long, for whom and which are repeats; with dry_run nothing else happens', async () => {
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

test('what matches nothing begins nothing', async () => {
  assert.deepEqual(await begin({ destination_id: encodeId('destination', still.app.deps.uuid()) }), {
    plan: { count: 0, complete: true, bytes: 0, minutes: 0, duplicates: 0, allowance: null, destinations: [] },
    replay: null,
  })
})

test('each becomes due once, the oldest first, with a fresh schedule, at a moment of its own: in no second more than the pace', async () => {
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

test('a worker that was away does not make up for it in a burst', async () => {
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

test('it is paused, resumed and cancelled; what it has not come to stays as it was', async () => {
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
  for (const verb of ['pause', 'resume', 'cancel']) assert.match((await ask(verb)).body.error, /Begin another one/)
  const actions = (await still.admin('GET', `audit?target=${replay.id}`)).body.audit.map((row: Body) => row.action)
  assert.deepEqual(actions.toReversed(), ['create_replay', 'pause_replay', 'resume_replay', 'cancel_replay'])
})

/** A process that dies before its commit: what the transaction wrote is gone. */
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

test('a process that dies in the middle of a page has sent in none of it, and the next one goes on: each once, also with two at once', async () => {
  const those = await deliveriesIn('failed', 40)
  const { replay } = await begin({ destination_id: those.destination.id }, { rate_per_second: 20 })
  await run()
  const { replayed } = await replayOf(replay.id)
  still.clock.advance(1_000)
  await assert.rejects(run(dying(still.app.deps)), /killed/)
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

test('a filter that is none is refused with the place; a pattern outside the dialect too', async () => {
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

test('what was made after the call is left out, and what is no longer as the filter says is passed over', async () => {
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

test('for a destination that is off they are paused, and go when it is on; a deleted one is passed over', async () => {
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

test('while the workspace is suspended it stands still, and goes on afterwards', async () => {
  const those = await deliveriesIn('failed', 3)
  const { replay } = await begin({ destination_id: those.destination.id })
  await statement(database, 'update workspaces set suspended_at = now()')
  await run()
  assert.equal((await replayOf(replay.id)).replayed, 0)
  await statement(database, 'update workspaces set suspended_at = null')
  await run()
  assert.equal((await replayOf(replay.id)).replayed, 3)
})

test('recover: what failed since then is replayed, the destination is switched on when asked, and what waits is told', async () => {
  const those = await deliveriesIn('failed', 3)
  const { id } = those.destination
  const off = await still.admin('PATCH', `destinations/${id}`, { enabled: false })
  assert.equal(off.body.destination.enabled, false)
  // An event that comes while it is off has its delivery, so nothing is to be made up.
  await post(`${still.endpoint}/${those.dataset}`, '{}')
  assert.deepEqual(await those.states(), ['failed', 'failed', 'failed', 'paused'])
  const since = new Date(still.clock.now() - 3_600_000).toISOString()
  const ask = async (body: object): Promise<Body> =>
    (await still.admin('POST', `destinations/${id}/recover`, body)).body
  const dry = await ask({ since, enable: true, dry_run: true })
  assert.deepEqual([dry.plan.count, dry.plan.waiting, dry.replay, dry.destination.enabled], [3, 1, null, false])
  assert.equal((await ask({ since: new Date(still.clock.now() + 1).toISOString(), dry_run: true })).plan.count, 0)
  const begun = await ask({ since, enable: true })
  assert.deepEqual([begun.replay.kind, begun.replay.total, begun.destination.enabled], ['recover', 3, true])
  await run()
  assert.deepEqual(await those.states(), ['retrying', 'retrying', 'retrying', 'pending'])
  const [row] = (await still.admin('GET', `audit?target=${id}&action=recover_destination`)).body.audit
  assert.deepEqual([row.details.count, row.details.waiting, row.details.replay], [3, 1, begun.replay.id])
})

test('recover leaves alone what was cancelled by hand, unless it is told not to', async () => {
  const those = await deliveriesIn('cancelled', 2)
  const since = new Date(still.clock.now() - 3_600_000).toISOString()
  const count = async (body: object): Promise<number> =>
    (await still.admin('POST', `destinations/${those.destination.id}/recover`, { since, dry_run: true, ...body })).body
      .plan.count
  assert.deepEqual([await count({}), await count({ include_cancelled: true })], [0, 2])
})

test('a replay sends every delivery again, once, and new events go before what is left of it', async (t) => {
  const held: ServerResponse[] = []
  const bodies: string[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      bodies.push(JSON.parse(body).data.n)
      held.push(response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const world = await aWorld()
  t.after(async () => {
    server.close().closeAllConnections()
    await world.stop()
  })
  const heard = (count: number): Promise<true> =>
    eventually(async () => (held.length >= count ? true : undefined), 2_000)
  const { destination } = await aDestination(world, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    max_in_flight: 1,
    retry: { schedule_seconds: [0] },
  })
  for (let n = 0; n < 4; n += 1) {
    await post(world.endpoint, JSON.stringify({ n }))
    await heard(n + 1)
    held[n]?.writeHead(500).end()
  }
  const inState = (state: string, count: number): Promise<Body> =>
    eventually(async () => {
      const { deliveries } = (await world.admin('GET', `deliveries?state=${state}&destination_id=${destination.id}`))
        .body
      return deliveries.length >= count ? deliveries : undefined
    }, 2_000)
  await inState('failed', 4)
  const { replay } = (
    await world.admin('POST', 'deliveries/replays', {
      filter: { destination_id: destination.id },
      rate_per_second: 1_000,
    })
  ).body
  world.clock.advance(500)
  await eventually(
    async () =>
      (await world.admin('GET', `deliveries/replays/${replay.id}`)).body.replay.state === 'done' ? true : undefined,
    2_000,
  )
  world.clock.advance(500)
  await heard(5)
  await post(world.endpoint, JSON.stringify({ n: 'new' }))
  for (let index = 4; index < 9; index += 1) {
    await heard(index + 1)
    held[index]?.end()
  }
  const delivered = await inState('delivered', 5)
  assert.equal(delivered.length, 5)
  assert.deepEqual(bodies.slice(4).toSorted(), [0, 1, 2, 3, 'new'])
  const attempts = await Promise.all(
    delivered.map(async (one: Body) =>
      (await world.admin('GET', `deliveries/${one.id}`)).body.delivery.attempts.map((attempt: Body) => attempt.trigger),
    ),
  )
  assert.deepEqual(attempts.map((one: string[]) => one.join(' ')).toSorted(), [
    'initial',
    ...Array.from({ length: 4 }, () => 'initial replay'),
  ])
})
