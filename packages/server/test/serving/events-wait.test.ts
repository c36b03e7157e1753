import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aWebhook, behind, post, statement } from '../stage/fixtures.ts'
import { aWorld, eventually, type Answer, type World } from '../stage/harness.ts'
import { call, connected } from '../stage/mcp-client.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** Contract part 5: agents and programs that wait for events instead of running a server. */
let world: World

onWorldStage(
  async (stage) => {
    ;({ world } = stage)
  },
  { loops: [] },
)

let datasets = 0

async function aSource() {
  datasets += 1
  const dataset = `w${datasets}`
  const { public_url } = await aWebhook(world, { dataset })
  const send = async (body: string): Promise<string> => {
    const answer = await post(public_url, body)
    assert.equal(answer.status, 201)
    return answer.body.records[0].id
  }
  return { dataset, send }
}

type Query = Readonly<Record<string, string | number>>
const ask = (query: Query, of: World = world): Promise<Answer> =>
  of.admin('GET', `events/wait?${String(new URLSearchParams(texts(query)))}`)

const texts = (query: Query): Record<string, string> =>
  Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)]))

const idsOf = ({ body }: Answer): readonly string[] => body.events.map(({ id }: { id: string }) => id)

/** The answer of a call that waits, while the clock moves on. */
async function whileTimePasses<T>(waiting: Promise<T>): Promise<T> {
  let answer: { readonly is: T } | undefined
  const seen = waiting.then((is) => (answer = { is }))
  await eventually('the waiting call is answered', async () => {
    world.clock.advance(1_000)
    return answer
  })
  return (await seen).is
}

test('a call without a cursor starts now, and each page continues after the previous one', async () => {
  const { dataset, send } = await aSource()
  await send('{"n":0}')
  const start = await ask({ dataset, wait_seconds: 0 })
  assert.deepEqual(start.body.events, [])
  const sent = [await send('{"n":1}'), await send('{"n":2.50}'), await send('{"n":3}')]
  const first = await ask({ dataset, wait_seconds: 0, limit: 2, after: start.body.cursor })
  assert.deepEqual(idsOf(first), sent.slice(0, 2))
  assert.deepEqual(
    [Object.keys(first.body.events[0]), first.body.events[1].data],
    [['id', 'dataset', 'received_at', 'data'], { n: 2.5 }],
  )
  assert.deepEqual(idsOf(await ask({ dataset, wait_seconds: 0, after: first.body.cursor })), sent.slice(2))
  const again = await ask({ dataset, wait_seconds: 0, limit: 2, after: start.body.cursor })
  assert.deepEqual(idsOf(again), sent.slice(0, 2), 'a client that failed reads the same events again')
})

test('a waiting call is answered by the next event that matches, or without one when its time has ended', async () => {
  const { dataset, send } = await aSource()
  const { cursor } = (await ask({ dataset, wait_seconds: 0 })).body
  const waiting = ask({ dataset, wait_seconds: 60, after: cursor, f: 'n:gt:10' })
  await send('{"n":1}')
  const wanted = await send('{"n":11}')
  const answer = await whileTimePasses(waiting)
  assert.deepEqual(idsOf(answer), [wanted])
  const startedAt = world.clock.now()
  const none = await whileTimePasses(ask({ dataset, wait_seconds: 20, after: answer.body.cursor, f: 'n:gt:10' }))
  assert.deepEqual(none.body.events, [])
  assert.ok(world.clock.now() - startedAt >= 20_000)
})

test('no event is missed across lost answers, other processes and restarts', async () => {
  const { dataset, send } = await aSource()
  let { cursor } = (await ask({ dataset, wait_seconds: 0 })).body
  const sending = Promise.all(Array.from({ length: 60 }, (_, n) => send(`{"n":${n}}`)))
  const seen: string[] = []
  let second = await aWorld({ beside: world })
  try {
    for (let turn = 0; seen.length < 60 && turn < 500; turn += 1) {
      const answer = await ask({ dataset, wait_seconds: 0, limit: 7, after: cursor }, turn % 2 === 0 ? world : second)
      assert.equal(answer.status, 200)
      // Every third answer is lost on its way, so its events have to come again.
      if (turn % 3 === 2) continue
      seen.push(...idsOf(answer))
      cursor = answer.body.cursor
      if (turn !== 9) continue
      await second.stop()
      second = await aWorld({ beside: world })
    }
  } finally {
    await second.stop()
  }
  assert.deepEqual(seen.toSorted(), (await sending).toSorted())
})

test('an agent registers an endpoint, waits by MCP, and reacts', async () => {
  const client = await connected(world)
  const made = await call(client, 'endpoint_create', { name: 'Orders of the agent', dataset: 'agent_orders' })
  const { public_url } = made.answer.webhook
  const start = await call(client, 'events_wait', { dataset: 'agent_orders', wait_seconds: 0 })
  const waiting = call(client, 'events_wait', {
    dataset: 'agent_orders',
    after: start.answer.cursor,
    f: ['total:gt:5'],
  })
  assert.equal((await post(public_url, '{"total":6}')).status, 201)
  const { answer } = await whileTimePasses(waiting)
  assert.deepEqual(answer.events[0].data, { total: 6 })
  const more = await call(client, 'events_wait', { dataset: 'agent_orders', after: answer.cursor, wait_seconds: 0 })
  assert.deepEqual(more.answer.events, [])
  await client.close()
})

test('waiting calls share the streams of the plan, and an answered call gives its place back', async () => {
  const { dataset, send } = await aSource()
  const database = behind(world)
  try {
    await statement(database, `update workspaces set plan = 'free'`)
    const { cursor } = (await ask({ dataset, wait_seconds: 0 })).body
    const waiting = [1, 2, 3].map(() => ask({ dataset, wait_seconds: 60, after: cursor }))
    const refused = await Promise.race(waiting)
    assert.deepEqual([refused.status, refused.body.reason, refused.body.retry_after], [429, 'stream_limit_reached', 10])
    await send('{"n":1}')
    const answers = await whileTimePasses(Promise.all(waiting))
    assert.deepEqual(answers.map(({ status }) => String(status)).toSorted(), ['200', '200', '429'])
    assert.equal((await ask({ dataset, wait_seconds: 0, after: cursor })).status, 200)
  } finally {
    await statement(database, `update workspaces set plan = 'self_hosted'`)
    await database.close()
  }
})
