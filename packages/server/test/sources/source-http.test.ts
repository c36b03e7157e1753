import assert from 'node:assert/strict'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, test } from 'node:test'
import { createSourcePolls } from '../../src/pipeline/sources/index.ts'
import { sql } from '../../src/platform/db.ts'
import { claimSources } from '../../src/resources/sources/sources/queries.ts'
import { insertProject } from '../../src/resources/workspace/projects/index.ts'
import { insertWorkspace } from '../../src/resources/workspace/workspaces/index.ts'
import { aName } from '../stage/fixtures.ts'
import { aSink, aWorld, eventually, type Answer, type Reply, type Sink, type World } from '../stage/harness.ts'
import { asked, payloadsIn, placeOf, sourceDeps } from '../stage/source-stage.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** Sources that poll an HTTP API, with a real server. */
let world: World
let api: Sink

onWorldStage(
  (made) => {
    ;({ world } = made)
  },
  { env: { ROLES: 'web' }, loops: [] },
)
beforeEach(async () => {
  api = await aSink()
})
afterEach(() => api.stop())

let made = 0
const settingsFor = (more: object = {}): object => ({ kind: 'http_poll', url: `${api.url}items`, ...more })
async function aSource(more: object = {}, members: object = {}): Promise<Answer['body']> {
  made += 1
  const body = { name: aName('source'), dataset: `items${made}`, settings: settingsFor(more), ...members }
  return (await asked(world, 'POST sources', body)).source
}
const sourceOf = async (id: string): Promise<Answer['body']> => (await asked(world, `GET sources/${id}`)).source
const run = (): Promise<unknown> => createSourcePolls(sourceDeps(world), aName('owner')).run()
const runLater = (ms = 60_000): Promise<unknown> => {
  world.clock.advance(ms)
  return run()
}
const json = (value: unknown): Reply => ({
  status: 200,
  body: typeof value === 'string' ? value : JSON.stringify(value),
})

test('each item of the list becomes one event, with every digit as it came', async () => {
  api.answer(json('{"data":[{"id":1,"total":12345678901234567890.10},{"id":2}]}'))
  const { id, dataset } = await aSource({ items_path: 'data' })
  await run()
  assert.deepEqual(await payloadsIn(world, dataset), ['{"id":1,"total":12345678901234567890.10}', '{"id":2}'])
  const { submissions } = await asked(world, 'GET submissions?limit=1')
  assert.deepEqual(submissions[0].origin, { kind: 'source', id })
})

test('the cursor of a response goes into the next request, page after page, and only new pages are asked for', async () => {
  const pages: Readonly<Record<string, unknown>> = {
    '/items?v=1&after=start': { list: [{ n: 1 }, { n: 2 }], next: 'a b&c' },
    '/items?v=1&after=a+b%26c': { list: [{ n: 3 }], next: 7 },
    '/items?v=1&after=7': { list: [] },
  }
  api.answer(({ path }) => json(pages[path] ?? { list: [{ wrong: path }] }))
  const cursor = { path: 'next', send_as: 'after', start: 'start' }
  const { id, dataset } = await aSource({ url: `${api.url}items?v=1`, items_path: 'list', cursor })
  await run()
  await runLater(1_000)
  await runLater(1_000)
  assert.deepEqual(await payloadsIn(world, dataset), ['{"n":1}', '{"n":2}', '{"n":3}'])
  assert.equal((await sourceOf(id)).position.cursor, '7', 'a response without a cursor keeps it')
  await runLater()
  assert.deepEqual(
    api.received.map(({ path }) => path),
    ['/items?v=1&after=start', '/items?v=1&after=a+b%26c', '/items?v=1&after=7', '/items?v=1&after=7'],
  )
})

test('the cursor can be in the last item, and can be sent as a header', async () => {
  api.answer(({ headers }) => json(headers['x-since'] === '2' ? [] : [{ id: 1 }, { id: 2 }]))
  const cursor = { path: 'id', from: 'last_item', send_in: 'header', send_as: 'X-Since' }
  const { dataset } = await aSource({ cursor })
  await run()
  await runLater()
  assert.deepEqual(
    [(await payloadsIn(world, dataset)).length, api.received.map(({ headers }) => headers['x-since'])],
    [2, [undefined, '2']],
  )
})

test('the items and the cursor are one commit: a process that dies between them asks for the same page again', async () => {
  api.answer(({ path }) => json(path.includes('after') ? { list: [] } : { list: [{ n: 1 }], next: 'x' }))
  const { dataset } = await aSource({ items_path: 'list', cursor: { path: 'next', send_as: 'after' } })
  const dies: typeof world.app.acceptAll = (captured, alongside) =>
    world.app.acceptAll(captured, async (tx, outcomes) => {
      await alongside(tx, outcomes)
      throw new Error('The process died.')
    })
  await createSourcePolls({ ...sourceDeps(world), acceptAll: dies }, 'dying').run()
  assert.deepEqual(await payloadsIn(world, dataset), [])
  await runLater()
  assert.deepEqual(await payloadsIn(world, dataset), ['{"n":1}'])
})

test('a response that has not changed is not filed again: the request has the ETag and the date of the last one', async () => {
  api.answer(({ headers }) =>
    headers['if-none-match'] === '"v1"'
      ? { status: 304 }
      : { status: 200, headers: { etag: '"v1"', 'last-modified': 'Thu, 01 Jan 2026 00:00:00 GMT' }, body: '[{"n":1}]' },
  )
  const { id, dataset } = await aSource()
  await run()
  await runLater()
  assert.deepEqual(await payloadsIn(world, dataset), ['{"n":1}'])
  assert.equal(api.received[1]?.headers['if-modified-since'], 'Thu, 01 Jan 2026 00:00:00 GMT')
  assert.deepEqual((await sourceOf(id)).position.etag, '"v1"')
})

test('items with the same key are filed once, in one response and across responses', async () => {
  let list: unknown[] = [{ id: 'a' }, { id: 'b' }, { id: 'a', again: true }]
  api.answer(() => json(list))
  const { id, dataset } = await aSource({ key_path: 'id' })
  await run()
  list = [{ id: 'b' }, { id: 'c' }]
  await runLater()
  assert.deepEqual(await payloadsIn(world, dataset), ['{"id":"a"}', '{"id":"b"}', '{"id":"c"}'])
  assert.equal((await sourceOf(id)).events, 3)
})

test('an item that has changed since it was filed is not filed again, and does not delay the items after it', async () => {
  let list: unknown[] = [{ id: 1, status: 'new' }]
  api.answer(() => json(list))
  const { id, dataset } = await aSource({ key_path: 'id' })
  await run()
  list = [
    { id: 1, status: 'paid' },
    { id: 2, status: 'new' },
  ]
  await runLater()
  assert.deepEqual(await payloadsIn(world, dataset), ['{"id":1,"status":"new"}', '{"id":2,"status":"new"}'])
  const { state, events, last_error } = await sourceOf(id)
  assert.deepEqual([state, events, last_error], ['waiting', 2, null])
})

test('headers are sent, stored sealed, and never shown; they go only to the origin that they were set for', async () => {
  const secret = 'header-canary-91'
  api.answer(json([]))
  const { id, settings } = await aSource({ headers: { Authorization: `Bearer ${secret}` } })
  await run()
  assert.equal(api.received[0]?.headers['authorization'], `Bearer ${secret}`)
  assert.deepEqual(settings.headers, { Authorization: { has_value: true } })
  const change = (more: object): Promise<Answer> =>
    world.admin('PATCH', `sources/${id}`, { settings: settingsFor(more) })
  assert.equal((await change({ headers: { Authorization: null }, poll_seconds: 30 })).status, 200)
  const moved = api.url.replace('127.0.0.1', 'localhost')
  assert.match((await change({ url: moved, headers: { Authorization: null } })).body.error, /origin of the url changes/)
  await runLater()
  assert.equal(api.received[1]?.headers['authorization'], `Bearer ${secret}`)
  const shown = [`GET sources/${id}`, 'GET sources', 'GET audit', 'GET config/export']
  for (const line of shown) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    assert.ok(!JSON.stringify(await asked(world, line)).includes(secret), line)
  }
})

test('a failure is shown with its reason and tried again later; Retry-After is honored', async () => {
  const replies: readonly [Reply, string, RegExp][] = [
    [{ status: 401 }, 'bad_status', /401.*headers/],
    [{ status: 302, headers: { location: '/' } }, 'redirect', /Postroad does not follow redirects/],
    [{ status: 200, body: '{' }, 'invalid_body', /not valid JSON/],
    [{ status: 200, body: '{"data":{}}' }, 'invalid_body', /no list at "data"/],
    [{ status: 429, headers: { 'retry-after': '600' } }, 'bad_status', /429/],
  ]
  for (const [reply, reason, sentence] of replies) {
    api.answer(reply)
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const { id } = await aSource({ items_path: 'data' })
    // oxlint-disable-next-line no-await-in-loop -- as above
    await run()
    // oxlint-disable-next-line no-await-in-loop -- as above
    const { last_error: error, state, next_run_at } = await sourceOf(id)
    assert.deepEqual([state, error.reason], ['failing', reason])
    assert.match(error.error, sentence)
    const pause = (Date.parse(next_run_at) - world.clock.now()) / 1_000
    assert.equal(pause, reply.status === 429 ? 600 : 10)
    // oxlint-disable-next-line no-await-in-loop -- as above
    await asked(world, `DELETE sources/${id}`)
  }
})

test('a response that is too large is a failure with its reason', async () => {
  api.answer({ status: 200, body: `["${'x'.repeat(9_000_000)}"]` })
  const { id } = await aSource()
  await run()
  assert.equal((await sourceOf(id)).last_error.reason, 'response_too_large')
})

test('a source that answers slowly delays no source that is due later', async () => {
  const heard = Promise.withResolvers<ServerResponse>()
  const silent = createServer((_request, response) => heard.resolve(response))
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const address = silent.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  api.answer(json([{ n: 1 }]))
  const slow = await aSource({ url: `http://127.0.0.1:${port}/` })
  const reading = run()
  const response = await heard.promise
  const { dataset } = await aSource()
  world.clock.advance(1_000)
  await eventually('the second source is read', async () =>
    (await payloadsIn(world, dataset)).length > 0 ? true : undefined,
  )
  assert.deepEqual([(await sourceOf(slow.id)).state, await payloadsIn(world, slow.dataset)], ['reading', []])
  response.writeHead(200).end('[{"n":2}]')
  await reading
  assert.deepEqual(await payloadsIn(world, slow.dataset), ['{"n":2}'])
  silent.closeAllConnections()
  silent.close()
})

test('workspaces take turns: a source is read before those of a workspace with more reads under way', async () => {
  const { database, uuid } = world.app.deps
  const now = new Date(world.clock.now())
  await aSource()
  const home = placeOf(world)
  const [workspaceId, projectId] = [uuid(), uuid()]
  await insertWorkspace(database, { id: workspaceId, slug: aName('turn'), name: 'Turn', now })
  await insertProject(database, { workspaceId, id: projectId, slug: 'turn', name: 'Turn', isDefault: true, now })
  await database.run(sql`
    insert into sources (workspace_id, project_id, id, name, kind, dataset, conditions, enabled, settings, due_at, created_at, updated_at)
    select ${workspaceId}, ${projectId}, gen_random_uuid(), name, kind, dataset, conditions, enabled, settings, ${now}, ${now}, ${now}
      from sources
     where workspace_id = ${home.workspaceId}
     limit 1
  `)
  await database.run(
    sql`update sources set due_at = due_at - interval '1 hour', lease_until = null where workspace_id = ${home.workspaceId}`,
  )
  const at = {
    kinds: ['http_poll'],
    owner: 'turns',
    now,
    until: new Date(now.getTime() + 60_000),
    limit: 1,
    ofWorkspaceMax: 2,
  } as const
  const full = await claimSources(database, {
    ...at,
    underWay: [home.workspaceId, home.workspaceId, workspaceId, workspaceId],
  })
  assert.equal(full.length, 0, 'one workspace leaves room for others')
  const [first] = await claimSources(database, { ...at, underWay: [home.workspaceId] })
  const [second] = await claimSources(database, { ...at, underWay: [home.workspaceId, workspaceId] })
  assert.deepEqual([first?.workspace_id, second?.workspace_id], [workspaceId, home.workspaceId])
  await database.run(sql`delete from sources where workspace_id in (${workspaceId}, ${home.workspaceId})`)
})

test('a test returns the first five items', async () => {
  api.answer(json([1, 2, 3, 4, 5, 6]))
  const tried = await asked(world, 'POST sources/test', { settings: settingsFor() })
  assert.deepEqual([tried.ok, tried.items], [true, [1, 2, 3, 4, 5]])
})

test('the guard checks the address when it is saved and when it is called', async () => {
  const guarded = await aWorld({
    env: { ROLES: 'web', OUTBOUND_ALLOW: '' },
    resolver: {
      resolve: () => Promise.resolve({ kind: 'addresses', source: 'dns', addresses: ['192.168.1.1'] }),
      close: () => undefined,
    },
    loops: [],
  })
  try {
    const send = (url: string): Promise<Answer> =>
      guarded.admin('POST', 'sources', { name: aName('guarded'), dataset: 'd', settings: settingsFor({ url }) })
    for (const url of [api.url, 'https://10.0.0.1/', 'http://api.example.com/', 'ftp://example.com/']) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      assert.equal((await send(url)).status, 400, url)
    }
    const { source } = (await send('https://api.example.com/')).body
    await createSourcePolls(sourceDeps(guarded), 'guarded').run()
    const { last_error: error } = (await guarded.admin('GET', `sources/${source.id}`)).body.source
    assert.equal(error.reason, 'blocked_address')
  } finally {
    await guarded.stop()
  }
})

test('a source that is deleted, turned off or changed while it is read loses its connection', async () => {
  for (const end of [
    (id: string) => asked(world, `DELETE sources/${id}`),
    (id: string) => asked(world, `PATCH sources/${id}`, { enabled: false }),
    (id: string) => asked(world, `PATCH sources/${id}`, { settings: settingsFor({ items_path: 'other' }) }),
  ]) {
    const held: ServerResponse[] = []
    const silent = createServer((_request, response) => held.push(response))
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- listening on TCP
    const { port } = silent.address() as AddressInfo
    const { id } = await aSource({ url: `http://127.0.0.1:${port}/` })
    const reading = run()
    await eventually('the request is under way', async () => (held.length === 1 ? true : undefined))
    await end(id)
    await eventually('the server lost its connection', async () => {
      world.clock.advance(1_000)
      return held[0]?.destroyed === true ? true : undefined
    })
    await reading
    silent.close()
    await world.app.deps.database.run(sql`delete from sources where workspace_id = ${placeOf(world).workspaceId}`)
  }
})
