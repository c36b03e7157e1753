import assert from 'node:assert/strict'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { aDestination, post } from '../stage/fixtures.ts'
import { aWorld } from '../stage/harness.ts'
import { still, type Body, deliveriesIn, run, onReplayStage } from '../stage/replay-stage.ts'

onReplayStage()

test('recover replays the failed deliveries since a time, enables the destination on request, and reports the waiting deliveries', async () => {
  const those = await deliveriesIn('failed', 3)
  const { id } = those.destination
  const off = await still.admin('PATCH', `destinations/${id}`, { enabled: false })
  assert.equal(off.body.destination.enabled, false)
  // An event that arrives while the destination is off has its delivery, so recovery has nothing to create.
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

test('recover leaves manually canceled deliveries alone, unless the caller includes them', async () => {
  const those = await deliveriesIn('cancelled', 2)
  const since = new Date(still.clock.now() - 3_600_000).toISOString()
  const count = async (body: object): Promise<number> =>
    (await still.admin('POST', `destinations/${those.destination.id}/recover`, { since, dry_run: true, ...body })).body
      .plan.count
  assert.deepEqual([await count({}), await count({ include_cancelled: true })], [0, 2])
})

test('a replay sends every delivery again, once, and new events go before its remaining deliveries', async (t) => {
  const held: ServerResponse[] = []
  const arrived = new Set<() => void>()
  const bodies: string[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      bodies.push(JSON.parse(body).data.n)
      held.push(response)
      for (const look of arrived) look()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const world = await aWorld({ loops: [] })
  t.after(async () => {
    server.close().closeAllConnections()
    await world.stop()
  })
  const heard = (count: number): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => void (held.length >= count && resolve())
      arrived.add(look)
      look()
    })
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
  const inState = async (state: string): Promise<Body> => {
    await world.idle()
    return (await world.admin('GET', `deliveries?state=${state}&destination_id=${destination.id}`)).body.deliveries
  }
  assert.equal((await inState('failed')).length, 4)
  const { replay } = (
    await world.admin('POST', 'deliveries/replays', {
      filter: { destination_id: destination.id },
      rate_per_second: 1_000,
    })
  ).body
  // The receiver answers nothing yet, so the world is not idle after this.
  await world.app.run('replays.advance')
  assert.equal((await world.admin('GET', `deliveries/replays/${replay.id}`)).body.replay.state, 'done')
  world.clock.advance(500)
  await heard(5)
  await post(world.endpoint, JSON.stringify({ n: 'new' }))
  for (let index = 4; index < 9; index += 1) {
    await heard(index + 1)
    held[index]?.end()
  }
  const delivered = await inState('delivered')
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
