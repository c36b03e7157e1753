import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { after, afterEach, before, describe, test } from 'node:test'
import { decodeId } from '@postroad/contract'
import { sql, type Database } from '../../src/platform/db.ts'
import { touchIngestKey } from '../../src/resources/capture/ingest-keys/queries.ts'
import { anIngestKey, aRule, aWebhook, behind, post, submissionOf } from '../stage/fixtures.ts'
import { aWorld, eventually, type Answer, type World } from '../stage/harness.ts'
import { sse, type StreamClient } from '../stage/stream-client.ts'

/** What an ingest key may do, one sentence each. Two nodes stand on one database. */
const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000
let world: World
let second: World
let database: Database
const open: StreamClient[] = []

before(async () => {
  world = await aWorld()
  second = await aWorld({ beside: world, env: { ROLES: 'web' } })
  database = behind(world)
})
after(async () => {
  await database.close()
  await second.stop()
  await world.stop()
})
afterEach(() => {
  for (const client of open.splice(0)) client.close()
})

const change = (id: string, members: object): Promise<Answer> => world.admin('PATCH', `ingest-keys/${id}`, members)
const send = (path: string, headers: Record<string, string> = {}, node = world): Promise<Answer> =>
  post(`${node.baseUrl}/v1/${path}`, '{"a":1}', { headers })
const stored = async (): Promise<number> =>
  (await database.one<{ n: number }>(sql`select count(*) as n from submissions`)).n

async function statusOf(path: string, headers: Record<string, string> = {}, node = world): Promise<string> {
  const { status, body } = await send(path, headers, node)
  return status === 201 ? '201' : `${status} ${body.reason}`
}

async function tail(key: string, query = ''): Promise<StreamClient> {
  const client = await sse(`${world.baseUrl}/v1/stream?key=${key}${query}`)
  open.push(client)
  return client
}

async function refusedStream(key: string, query = ''): Promise<Answer> {
  const response = await fetch(`${world.baseUrl}/v1/stream?key=${key}${query}`)
  return { status: response.status, headers: response.headers, body: await response.json() }
}

function signed(secret: string, at = world.clock.wall()): Record<string, string> {
  const seconds = Math.floor(at / 1_000)
  return {
    'x-service-signature': `t=${seconds},v1=${createHmac('sha256', secret).update(`${seconds}.{"a":1}`).digest('hex')}`,
  }
}

describe('what it is', () => {
  test('a key is shown once; the list, the key by its id and its changes show a prefix only', async () => {
    const { status, body, headers } = await world.admin('POST', 'ingest-keys', { name: 'shop' })
    assert.deepEqual([status, headers.get('cache-control')], [201, 'no-store'])
    assert.match(body.key, /^ik_live_[0-9A-Za-z]{43}$/)
    const now = new Date(world.clock.now()).toISOString()
    const { id, ...members } = body.ingest_key
    assert.deepEqual(members, {
      name: 'shop',
      shown_prefix: body.key.slice(0, 12),
      enabled: true,
      scopes: ['ingest', 'stream'],
      datasets: null,
      ip_allowlist: [],
      require_signature: false,
      previous_signing_secret_expires_at: null,
      last_used_at: null,
      created_at: now,
      updated_at: now,
    })
    const said = await Promise.all([
      world.admin('GET', 'ingest-keys'),
      world.admin('GET', `ingest-keys/${id}`),
      change(id, { name: 'other' }),
    ])
    for (const answer of said) assert.ok(!JSON.stringify(answer.body).includes(body.key.slice(12)))
  })

  test('what is malformed is refused by name, with what to do', async () => {
    const bad: [object, RegExp][] = [
      [{ scopes: [] }, /^scopes: A key has at least one scope; to stop it for a while, set "enabled" to false\.$/],
      [{ scopes: ['admin'] }, /^scopes\[0\]: A scope is ingest or stream\.$/],
      [{ datasets: [] }, /^datasets: Name at least one dataset, or send null for every dataset\.$/],
      [{ datasets: ['9'] }, /^datasets\[0\]/],
      [{ datasets: Array.from({ length: 101 }, (_none, at) => `d${at}`) }, /^datasets: At most 100/],
      [{ ip_allowlist: ['here'] }, /^ip_allowlist\[0\]/],
      [{ require_signature: 'yes' }, /^require_signature/],
    ]
    const { id } = await anIngestKey(world)
    for (const [members, text] of bad) {
      for (const answer of [
        await world.admin('POST', 'ingest-keys', { name: 'bad', ...members }),
        await change(id, members),
      ]) {
        assert.equal(answer.status, 400)
        assert.match(answer.body.error, text)
      }
    }
  })

  test('the time of its last use is noted at most once a minute, for events and for streams; requests without a key note nothing', async () => {
    const { id, key } = await anIngestKey(world)
    const lastUsed = async (): Promise<string | null> =>
      (await world.admin('GET', `ingest-keys/${id}`)).body.ingest_key.last_used_at
    const noted = (at: string): Promise<true> => eventually(async () => ((await lastUsed()) === at ? true : undefined))
    const first = new Date(world.clock.now()).toISOString()
    await send(`ingest/${key}/d`)
    await noted(first)
    world.clock.advance(MINUTE_MS - 1)
    await send(`ingest/${key}/d`)
    assert.equal(await lastUsed(), first)
    const {
      workspace_id: workspaceId,
      project_id: projectId,
      id: uuid,
    } = await database.one<{ workspace_id: string; project_id: string; id: string }>(
      sql`select workspace_id, project_id, id from ingest_keys where id = ${decodeId('ingestKey', id) ?? ''}`,
    )
    const anotherNode = (): Promise<number> =>
      touchIngestKey(database, { workspaceId, projectId, id: uuid, now: new Date(world.clock.now()) })
    assert.equal(await anotherNode(), 0, 'however many nodes there are')
    world.clock.advance(1)
    await tail(key)
    await noted(new Date(world.clock.now()).toISOString())
  })
})

describe('Authorization: Bearer', () => {
  test('an ingest key may stand there with its place in the path left out, in each of the three forms', async () => {
    const { key } = await anIngestKey(world)
    const { slug, dataset } = await aWebhook(world)
    const authorization = `Bearer ${key}`
    const whole = await send('ingest/orders', { authorization })
    const through = await send(`webhooks/${slug}`, { authorization })
    const ruled = await send('ingest', { authorization })
    assert.deepEqual(
      [whole.status, whole.body.dataset, through.status, through.body.dataset, ruled.status, ruled.body.routed],
      [201, 'orders', 201, dataset, 201, []],
    )
    assert.equal((await submissionOf(world, whole.body.id)).headers.authorization, '•••')
  })

  test('a key in the path goes first, and a bearer that is no ingest key is the sender’s own affair', async () => {
    const { key } = await anIngestKey(world)
    assert.equal(await statusOf(`ingest/${key}/orders`, { authorization: 'Bearer ik_live_unknown' }), '201')
    assert.equal(await statusOf(`ingest/${key}`, { authorization: 'Bearer something' }), '201')
    assert.equal(
      await statusOf('ingest/orders', { authorization: 'Bearer ik_live_unknown' }),
      '404 ingest_key_not_found',
    )
    assert.equal(await statusOf('ingest', { authorization: 'Bearer something' }), '404 route_not_found')
  })
})

describe('the switch', () => {
  test('a key that is switched off answers 503 on every form and 401 to streams, says so, and stores nothing', async () => {
    await aWebhook(world, { slug: 'switched' })
    const { id, key } = await anIngestKey(world)
    const client = await tail(key)
    assert.equal((await change(id, { enabled: false })).status, 200)
    const had = await stored()
    for (const path of [`ingest/${key}`, `ingest/${key}/d`, `webhooks/${key}/switched`]) {
      const { status, body } = await send(path)
      assert.deepEqual(
        [status, body.reason, body.error],
        [503, 'endpoint_disabled', 'This ingest key is switched off. Enable it to accept requests again.'],
      )
    }
    assert.equal(await stored(), had)
    const { status, body } = await refusedStream(key)
    assert.deepEqual([status, body.error], [401, 'This ingest key is switched off. Enable it to stream again.'])
    await eventually(async () => {
      world.clock.advance(50)
      return client.events.at(-1)?.data.reason === 'credential_revoked' ? true : undefined
    })
    await change(id, { enabled: true })
    assert.equal(await statusOf(`ingest/${key}/d`), '201')
  })

  test('it takes effect on other nodes too', async () => {
    const { id, key } = await anIngestKey(world)
    assert.equal(await statusOf(`ingest/${key}/d`, {}, second), '201')
    await change(id, { enabled: false })
    await eventually(async () =>
      (await statusOf(`ingest/${key}/d`, {}, second)) === '503 endpoint_disabled' ? true : undefined,
    )
  })
})

describe('scopes', () => {
  test('a key without the scope ingest sends nothing in; one without stream sees nothing', async () => {
    const reader = await anIngestKey(world, { scopes: ['stream'] })
    const { status, body } = await send(`ingest/${reader.key}/d`)
    assert.deepEqual(
      [status, body.reason, body.error],
      [403, 'scope_missing', 'This ingest key may not send events. Add the scope "ingest" to it, or use another key.'],
    )
    assert.equal((await tail(reader.key)).status, 200)
    const writer = await anIngestKey(world, { scopes: ['ingest'] })
    assert.equal(await statusOf(`ingest/${writer.key}/d`), '201')
    const refused = await refusedStream(writer.key)
    assert.deepEqual(
      [refused.status, refused.body.reason, refused.body.error],
      [403, 'scope_missing', 'This ingest key may not stream. Add the scope "stream" to it, or use another key.'],
    )
  })

  test('a stream ends when its key loses the scope', async () => {
    const { id, key } = await anIngestKey(world)
    const client = await tail(key)
    await change(id, { scopes: ['ingest'] })
    await eventually(async () => {
      world.clock.advance(50)
      return client.events.at(-1)?.data.reason === 'credential_revoked' ? true : undefined
    })
  })
})

describe('datasets', () => {
  test('a limited key writes to its datasets and is refused every other, before anything is stored', async () => {
    await aWebhook(world, { slug: 'inside', dataset: 'mine' })
    await aWebhook(world, { slug: 'outside', dataset: 'theirs' })
    const { key } = await anIngestKey(world, { datasets: ['mine'] })
    assert.deepEqual([await statusOf(`ingest/${key}/mine`), await statusOf(`webhooks/${key}/inside`)], ['201', '201'])
    const had = await stored()
    for (const path of [`ingest/${key}/theirs`, `webhooks/${key}/outside`]) {
      const { status, body } = await send(path)
      assert.deepEqual([status, body.reason], [403, 'dataset_not_allowed'])
      assert.equal(
        body.error,
        'This ingest key may not write to "theirs". Add the dataset to the key, or use another key.',
      )
    }
    assert.equal(await stored(), had)
  })

  test('by rules it files all of an event or nothing of it', async () => {
    const { body } = await world.admin('POST', 'projects', { name: 'ruled' })
    const ruled: World = {
      ...world,
      admin: (method, path, ...rest) => world.admin(method, `projects/${body.project.id}/${path}`, ...rest),
    }
    await aRule(ruled, { dataset: 'mine' })
    const stray = await aRule(ruled, { dataset: 'theirs', conditions: [{ path: 'kind', equals: 'x' }] })
    const { id, key } = await anIngestKey(ruled, { datasets: ['mine'] })
    assert.equal(await statusOf(`ingest/${key}`), '201')
    const had = await stored()
    const refused = await post(`${world.baseUrl}/v1/ingest/${key}`, '{"kind":"x"}')
    assert.deepEqual([refused.status, refused.body.reason], [403, 'dataset_not_allowed'])
    assert.match(refused.body.error, /^A rule files this event into "theirs"/)
    assert.equal(await stored(), had)
    await ruled.admin('PATCH', `ingest-keys/${id}`, { datasets: ['mine', stray.dataset] })
    assert.equal((await post(`${world.baseUrl}/v1/ingest/${key}`, '{"kind":"x"}')).body.routed.length, 2)
  })

  test('it streams its datasets alone, and is refused when it asks for another', async () => {
    const all = await anIngestKey(world)
    const { key } = await anIngestKey(world, { datasets: ['seen', 'seen_too'] })
    const [client, narrow] = [await tail(key), await tail(key, '&dataset=seen')]
    for (const dataset of ['unseen', 'seen', 'seen_too']) await send(`ingest/${all.key}/${dataset}`)
    await eventually(async () => {
      world.clock.advance(50)
      return client.events.length >= 2 && narrow.events.length >= 1 ? true : undefined
    })
    assert.deepEqual(
      client.events.map(({ data }) => data.dataset).toSorted((a, b) => (a < b ? -1 : 1)),
      ['seen', 'seen_too'],
    )
    assert.deepEqual(
      narrow.events.map(({ data }) => data.dataset),
      ['seen'],
    )
    const { status, body } = await refusedStream(key, '&dataset=seen,unseen')
    assert.deepEqual(
      [status, body.reason, body.error],
      [
        403,
        'dataset_not_allowed',
        'This ingest key may not stream "unseen". Add the dataset to the key, or use another key.',
      ],
    )
  })

  test('a stream ends when its key may see less than it shows', async () => {
    const { id, key } = await anIngestKey(world)
    const [client, narrow] = [await tail(key), await tail(key, '&dataset=seen')]
    await change(id, { datasets: ['seen'] })
    await eventually(async () => {
      world.clock.advance(50)
      return client.events.at(-1)?.data.reason === 'credential_revoked' ? true : undefined
    })
    assert.ok(!narrow.events.some(({ type }) => type === 'closing'))
    const widened = await change(id, { datasets: null })
    assert.equal(widened.body.ingest_key.datasets, null)
  })
})

describe('X-Service-Signature', () => {
  test('a key that requires it accepts what is signed with its secret, and the trace says so', async () => {
    const { key, secret } = await anIngestKey(world, { require_signature: true })
    assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
    const accepted = await send(`ingest/${key}/d`, signed(secret))
    assert.equal(accepted.status, 201)
    assert.equal((await submissionOf(world, accepted.body.id)).decision.verified_scheme, 'service_signature')
    assert.equal(
      (await world.admin('GET', `search/correlate/${accepted.body.id}`)).body.submission.verified_scheme,
      'service_signature',
    )
  })

  test('without it, with another’s or with an old one the answer is 401 with reason and scheme, and nothing is stored', async () => {
    const { key, secret } = await anIngestKey(world, { require_signature: true })
    const had = await stored()
    const cases: [Record<string, string>, string][] = [
      [{}, 'missing_header'],
      [signed('another'), 'bad_signature'],
      [{ 'x-service-signature': 'nonsense' }, 'bad_signature'],
      [signed(secret, world.clock.wall() - 301_000), 'stale_timestamp'],
      [signed(secret, world.clock.wall() + 301_000), 'stale_timestamp'],
      [{ 'service-signature': signed(secret)['x-service-signature'] ?? '' }, 'missing_header'],
    ]
    for (const [headers, reason] of cases) {
      const { status, body } = await send(`ingest/${key}`, headers)
      assert.deepEqual([status, body.reason, body.scheme], [401, reason, 'service_signature'])
    }
    assert.equal(await stored(), had)
  })

  test('a signature may be 300 seconds old or ahead', async () => {
    const { key, secret } = await anIngestKey(world, { require_signature: true })
    for (const off of [-300_000, 300_000])
      assert.equal(await statusOf(`ingest/${key}/d`, signed(secret, world.clock.wall() + off)), '201')
  })

  test('on an endpoint that verifies too, both must be right; the trace names the endpoint’s scheme', async () => {
    await aWebhook(world, { slug: 'doubly', verification: { scheme: 'hmac', secret: 'k' } })
    const { key, secret } = await anIngestKey(world, { require_signature: true })
    const own = { 'x-signature': createHmac('sha256', 'k').update('{"a":1}').digest('hex') }
    assert.equal(await statusOf(`webhooks/${key}/doubly`, own), '401 missing_header')
    assert.equal(await statusOf(`webhooks/${key}/doubly`, signed(secret)), '401 missing_header')
    const accepted = await send(`webhooks/${key}/doubly`, { ...own, ...signed(secret) })
    assert.equal((await submissionOf(world, accepted.body.id)).decision.verified_scheme, 'hmac')
  })

  test('a key that requires none looks at none', async () => {
    const { key } = await anIngestKey(world)
    const accepted = await send(`ingest/${key}/d`, signed('anything'))
    assert.deepEqual(
      [accepted.status, (await submissionOf(world, accepted.body.id)).decision.verified_scheme],
      [201, undefined],
    )
  })

  test('to require it later mints a secret, once; to require it no more forgets it', async () => {
    const { id, key } = await anIngestKey(world)
    const on = await change(id, { require_signature: true })
    assert.deepEqual([on.body.ingest_key.require_signature, on.headers.get('cache-control')], [true, 'no-store'])
    const again = await change(id, { require_signature: true, name: 'again' })
    assert.equal(again.body.signing_secret, undefined, 'one is held')
    assert.deepEqual(
      [await statusOf(`ingest/${key}/d`), await statusOf(`ingest/${key}/d`, signed(on.body.signing_secret))],
      ['401 missing_header', '201'],
    )
    await change(id, { require_signature: false })
    assert.equal(await statusOf(`ingest/${key}/d`), '201')
    const anew = await change(id, { require_signature: true })
    assert.notEqual(anew.body.signing_secret, on.body.signing_secret)
    assert.equal(await statusOf(`ingest/${key}/d`, signed(on.body.signing_secret)), '401 bad_signature')
  })

  test('its secret is rotated with an overlap, which another rotation ends only when the caller says so; the audit row holds no secret', async () => {
    const { id, key, secret } = await anIngestKey(world, { require_signature: true })
    const rotate = (body: object): Promise<Answer> =>
      world.admin('POST', `ingest-keys/${id}/rotate-signing-secret`, body)
    const { body } = await rotate({ overlap_hours: 2 })
    const end = new Date(world.clock.now() + 2 * HOUR_MS).toISOString()
    assert.equal(body.ingest_key.previous_signing_secret_expires_at, end)
    const statuses = (...secrets: string[]): Promise<string[]> =>
      Promise.all(secrets.map((one) => statusOf(`ingest/${key}/d`, signed(one))))
    assert.deepEqual(await statuses(secret, body.signing_secret), ['201', '201'])
    const { row } = await database.one<{ row: string }>(
      sql`select a::text as row from audit_rows a where action = 'rotate_signing_secret' order by id desc limit 1`,
    )
    assert.ok(row.includes(id) && row.includes(end) && !row.includes(body.signing_secret.slice(6)))
    const [chosen, last] = ['chosen-by-a-person', 'the-last-of-them-all']
    const early = await rotate({ secret: chosen, overlap_hours: 1 })
    assert.deepEqual([early.status, early.body.reason], [409, 'overlap_running'])
    assert.ok(early.body.error.includes(end), 'the refusal names the time at which the overlap ends')
    assert.deepEqual(await statuses(secret, body.signing_secret, chosen), ['201', '201', '401 bad_signature'])
    const short = await rotate({ secret: 'fifteen-letters', overlap_hours: 1 })
    assert.deepEqual([short.status, short.body.reason], [400, 'invalid_request'])
    assert.match(short.body.error, /at least 16 characters/)
    assert.equal((await rotate({ secret: chosen, overlap_hours: 1, end_overlap: true })).body.signing_secret, undefined)
    assert.deepEqual(await statuses(secret, body.signing_secret, chosen), ['401 bad_signature', '201', '201'])
    world.clock.advance(HOUR_MS - 1)
    assert.deepEqual(await statuses(body.signing_secret, chosen), ['201', '201'])
    world.clock.advance(1)
    assert.deepEqual(await statuses(body.signing_secret, chosen), ['401 bad_signature', '201'])
    assert.equal(
      (await world.admin('GET', `ingest-keys/${id}`)).body.ingest_key.previous_signing_secret_expires_at,
      null,
    )
    await rotate({ secret: last, overlap_hours: 0 })
    assert.deepEqual(await statuses(chosen, last), ['401 bad_signature', '201'])
  })

  test('a key that requires none has no secret to replace', async () => {
    const { id } = await anIngestKey(world)
    const { status, body } = await world.admin('POST', `ingest-keys/${id}/rotate-signing-secret`, {})
    assert.deepEqual(
      [status, body.error],
      [
        400,
        'This key requires no signature, so it has no secret to replace. Set "require_signature" to true to get one.',
      ],
    )
  })
})

test('a key made on one node streams on the other from its first moment on', async () => {
  await send(`ingest/${(await anIngestKey(world)).key}/d`, {}, second)
  const { wakeups } = world.app.deps
  const tell = wakeups.tell.bind(wakeups)
  wakeups.tell = () => undefined
  const { key } = await anIngestKey(world)
  wakeups.tell = tell
  const client = await sse(`${second.baseUrl}/v1/stream?key=${key}`)
  open.push(client)
  assert.equal(client.status, 200)
})
