import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { encodeId, routes, type Route } from '@postroad/contract'
import { sql, type Database } from '../../src/platform/db.ts'
import { LADDER } from '../../src/surfaces/admin/ladder.ts'
import { anIngestKey, aWebhook, post, signedIn } from '../stage/fixtures.ts'
import { aWorld, type Answer, type World } from '../stage/harness.ts'
import { aKeyOf, aMember, ask, theWorkspace, type Headers, type KeyMembers, type Member } from '../stage/people.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** The order of checks of the admin API, its rate limit, and the effect of a suspension. */
let world: World
let database: Database
let home: Member & { readonly defaultProjectId: string }
let owner: Headers

onWorldStage(
  async (made) => {
    ;({ world, database } = made)
    home = await theWorkspace(database)
    owner = await signedIn(world, home)
  },
  { loops: [] },
)

const keyWith = async (members: KeyMembers = {}): Promise<Headers> =>
  (await aKeyOf(world, database, { ...home, ...members })).headers

async function whileSuspended<T>(work: () => Promise<T>): Promise<T> {
  await database.run(sql`update workspaces set suspended_at = now() where id = ${home.workspaceId}`)
  try {
    return await work()
  } finally {
    await database.run(sql`update workspaces set suspended_at = null where id = ${home.workspaceId}`)
  }
}

function refused(answer: Answer, status: number, reason: string): void {
  assert.deepEqual([answer.status, answer.body.reason], [status, reason], JSON.stringify(answer.body))
}

describe('the order of checks', () => {
  test('the order is version, credential, rate, address, network, project, claim, never-list, operator, role, scope, suspension, work, idempotency', () => {
    assert.deepEqual(
      LADDER.map(({ name }) => name),
      [
        'checkVersion',
        'checkCredential',
        'checkRate',
        'checkKeyAddress',
        'checkNetwork',
        'checkProjectScope',
        'checkClaimed',
        'checkCaller',
        'checkOperator',
        'checkRole',
        'checkScope',
        'checkSuspended',
        'checkWork',
        'claimIdempotencyKey',
      ],
    )
  })

  /** Faults for requests with two of them: the rung that comes first answers. */
  const badVersion = { 'service-version': '1999-01-01' }
  const badIdempotencyKey = { 'idempotency-key': 'with a space' }
  const elsewhere = encodeId('project', '01890000-0000-7000-8000-000000000001')

  test('version before credential', async () => {
    refused(
      await ask(world, 'GET me', { headers: { ...badVersion, authorization: 'Bearer hk_unknown' } }),
      400,
      'unsupported_version',
    )
  })

  test('version first, also for an unknown route and for a wrong method', async () => {
    for (const line of ['GET nowhere', 'POST nowhere/at/all', 'DELETE me']) {
      const answer = await ask(world, line, { headers: badVersion })
      refused(answer, 400, 'unsupported_version')
      assert.deepEqual(answer.body.supported_versions, ['2026-09-29'], line)
      assert.equal(answer.headers.get('service-version'), '2026-09-29')
      assert.equal(answer.headers.get('cache-control'), 'no-store')
      assert.equal(answer.headers.get('x-content-type-options'), 'nosniff')
    }
    refused(await ask(world, 'GET nowhere', { headers: { 'service-version': '2026-09-29' } }), 404, 'route_not_found')
  })

  test('an empty version, and the served one in several headers or values, is served', async () => {
    const headers = await keyWith()
    for (const version of ['', ' ', '2026-09-29, 2026-09-29', '2026-09-29,', ', 2026-09-29'])
      assert.equal(
        (await ask(world, 'GET me', { headers: { ...headers, 'service-version': version } })).status,
        200,
        `"${version}"`,
      )
    for (const version of ['2026-09-29, 1999-01-01', '2026-09-29 2026-09-29', '2026'])
      refused(
        await ask(world, 'GET me', { headers: { ...headers, 'service-version': version } }),
        400,
        'unsupported_version',
      )
  })

  test('credential before rate: a caller who is not admitted is not counted', async () => {
    await withRate(1, async (busy) => {
      const headers = await keyWith({ revokedAt: new Date(world.clock.now()) })
      for (let sent = 0; sent < 3; sent += 1) refused(await ask(busy, 'GET me', { headers }), 401, 'api_key_revoked')
    })
  })

  test('rate before address, so that a stolen key cannot fill the audit log', async () => {
    await withRate(2, async (busy) => {
      const headers = await keyWith({ ips: ['203.0.113.1'] })
      for (let sent = 0; sent < 2; sent += 1) refused(await ask(busy, 'GET me', { headers }), 403, 'ip_not_allowed')
      for (let sent = 0; sent < 3; sent += 1) refused(await ask(busy, 'GET me', { headers }), 429, 'rate_limited')
      const { count } = await database.one<{ count: number }>(
        sql`select count(*) as count from audit_rows where action = 'access_denied'`,
      )
      assert.equal(count, 2)
    })
  })

  test('address before never-list', async () => {
    refused(
      await ask(world, 'POST api-keys', { headers: await keyWith({ ips: ['203.0.113.1'] }), body: {} }),
      403,
      'ip_not_allowed',
    )
  })

  test('project before never-list and role: the answer names the routes that the key can use', async () => {
    const headers = await keyWith({ role: 'viewer', projectId: home.defaultProjectId })
    for (const line of ['POST api-keys', 'POST projects', `POST projects/${elsewhere}/rules`])
      refused(await ask(world, line, { headers, body: {} }), 403, 'project_out_of_scope')
  })

  test('never-list before suspension: no reinstatement would help', async () => {
    const headers = await keyWith({ role: 'viewer' })
    await whileSuspended(async () =>
      refused(await ask(world, 'POST api-keys', { headers, body: {} }), 403, 'agent_not_permitted'),
    )
  })

  test('never-list before role: no higher role would help', async () => {
    const headers = await keyWith({ role: 'viewer' })
    refused(
      await ask(world, `PATCH members/${encodeId('user', home.userId)}`, { headers, body: { role: 'viewer' } }),
      403,
      'agent_not_permitted',
    )
  })

  test('project before suspension', async () => {
    const headers = await keyWith({ projectId: home.defaultProjectId })
    await whileSuspended(async () =>
      refused(await ask(world, `POST projects/${elsewhere}/rules`, { headers, body: {} }), 403, 'project_out_of_scope'),
    )
  })

  test('suspension before idempotency', async () => {
    const headers = { ...(await keyWith()), ...badIdempotencyKey }
    await whileSuspended(async () =>
      refused(await ask(world, 'POST rules', { headers, body: {} }), 403, 'workspace_suspended'),
    )
  })

  test('idempotency before the checks of project, path, query and body', async () => {
    const headers = { ...(await keyWith()), ...badIdempotencyKey }
    for (const path of ['rules', `projects/${elsewhere}/rules`, 'webhooks/nonsense/rotate'])
      refused(await ask(world, `POST ${path}`, { headers, body: '{' }), 400, 'invalid_idempotency_key')
  })

  test('the project before the body', async () => {
    refused(
      await ask(world, `POST projects/${elsewhere}/rules`, { headers: await keyWith(), body: '{' }),
      404,
      'not_found',
    )
  })
})

/** Another node of this world, on which each credential may send this many requests in 10 seconds. */
async function withRate(max: number | undefined, work: (busy: World) => Promise<void>): Promise<void> {
  const busy = await aWorld({
    beside: world,
    now: world.clock.now(),
    env: { ADMIN_REQUESTS_MAX: max === undefined ? '' : String(max) },
  })
  try {
    await work(busy)
  } finally {
    await busy.stop()
  }
}

describe('the rate of requests', () => {
  test('the rate is 100 in 10 seconds for a credential; the next one gets 429 with Retry-After: 10, and after 10 seconds requests work again', async () => {
    await withRate(undefined, async (busy) => {
      const headers = await keyWith()
      const send = (): Promise<Answer> => ask(busy, 'GET me', { headers })
      for (let sent = 0; sent < 100; sent += 1) assert.equal((await send()).status, 200)
      const { status, headers: said, body } = await send()
      assert.deepEqual([status, said.get('retry-after'), said.get('service-version')], [429, '10', '2026-09-29'])
      assert.deepEqual([body.retry_after, body.reason, typeof body.error], [10, 'rate_limited', 'string'])
      busy.clock.advance(9_999)
      assert.equal((await send()).status, 429)
      busy.clock.advance(1)
      assert.equal((await send()).status, 200)
    })
  })

  test('the rate is counted separately for each key and each person, and for a person over all sessions', async () => {
    await withRate(2, async (busy) => {
      const people = [home, await aMember(world, database, { ...home, role: 'viewer' })]
      const keys = [await keyWith(), await keyWith()]
      const sessions = await Promise.all(people.map((person) => signedIn(busy, person)))
      for (const headers of [...keys, ...sessions]) {
        for (let sent = 0; sent < 2; sent += 1) assert.equal((await ask(busy, 'GET me', { headers })).status, 200)
        refused(await ask(busy, 'GET me', { headers }), 429, 'rate_limited')
      }
      refused(await ask(busy, 'GET me', { headers: await signedIn(busy, home) }), 429, 'rate_limited')
    })
  })

  test('the rate counts rejected requests too, on every route', async () => {
    await withRate(3, async (busy) => {
      const headers = await keyWith({ role: 'viewer' })
      for (const line of ['POST rules', 'GET rules/nonsense', 'DELETE webhooks/x'])
        assert.notEqual((await ask(busy, line, { headers })).status, 429)
      refused(await ask(busy, 'GET me', { headers }), 429, 'rate_limited')
    })
  })
})

describe('the flags of the contract', () => {
  const all = Object.entries(routes).flatMap(([room, verbs]) =>
    Object.entries<Route>(verbs).map(([verb, route]) => ({ name: `${room}.${verb}`, route })),
  )
  const named = (which: (route: Route) => boolean): readonly string[] =>
    all.filter(({ route }) => which(route)).map(({ name }) => name)

  test('no GET is a write', () => {
    assert.deepEqual(
      named(({ method, whileSuspended: flag }) => method === 'GET' && flag !== 'read'),
      [],
    )
  })

  test('while suspended, the only reads that are not a GET are searches and dry runs', () => {
    assert.deepEqual(named(({ method, whileSuspended: flag }) => method !== 'GET' && flag === 'read').toSorted(), [
      'config.plan',
      'cronTriggers.preview',
      'destinationPreviews.make',
      'rules.test',
      'transforms.test',
      'webhooks.test',
      'webhooks.verifySample',
      'workflows.dryRun',
    ])
  })

  test('no key and no agent may create API keys', () => {
    assert.equal(routes.apiKeys.create.callers, 'people')
  })

  test('a write needs a higher role than a read', () => {
    assert.deepEqual(
      named(
        ({ whileSuspended: flag, callers, role, scope }) =>
          flag !== 'read' && callers === 'all' && (role === 'viewer' || scope === 'service:read'),
      ),
      [],
    )
  })
})

describe('while the workspace is suspended', () => {
  test('searches and dry runs continue, although they are POSTs', async () => {
    const { id } = await aWebhook(world, { verification: { scheme: 'hmac', secret: 'whispered' } })
    await whileSuspended(async () => {
      for (const [path, body] of [
        ['rules/test', { conditions: [], payloads: [{ a: 1 }] }],
        [`webhooks/${id}/test`, { payloads: [{ a: 1 }] }],
        [`webhooks/${id}/verify-sample`, { headers: {}, body: '{}' }],
      ] as const) {
        assert.equal((await ask(world, `POST ${path}`, { headers: owner, body })).status, 200, path)
      }
    })
  })

  test('the console, a key for all projects and a key for one project are refused every write alike', async () => {
    const credentials = [owner, await keyWith(), await keyWith({ projectId: home.defaultProjectId })]
    const project = `projects/${world.installed.project.id}`
    await whileSuspended(async () => {
      for (const headers of credentials) {
        refused(
          await ask(world, `POST ${project}/rules`, { headers, body: { name: 'x', dataset: 'x' } }),
          403,
          'workspace_suspended',
        )
        assert.equal((await ask(world, `GET ${project}/rules`, { headers })).status, 200)
      }
    })
  })

  test('an API key may be revoked, and none may be created', async () => {
    const { id } = await aKeyOf(world, database, home)
    await whileSuspended(async () => {
      refused(
        await ask(world, 'POST api-keys', { headers: owner, body: { name: 'x', role: 'viewer' } }),
        403,
        'workspace_suspended',
      )
      assert.equal((await ask(world, `DELETE api-keys/${id}`, { headers: owner })).status, 200)
    })
  })

  test('the admin stream continues, because it reads', async () => {
    await whileSuspended(async () => {
      const { key } = { key: (await keyWith())['authorization'] ?? '' }
      const cut = new AbortController()
      const response = await fetch(`${world.baseUrl}/admin/api/stream`, {
        headers: { authorization: key },
        signal: cut.signal,
      })
      assert.equal(response.status, 200)
      cut.abort()
    })
  })

  test('nothing is stored, and after reinstatement everything works as before', async () => {
    const { key } = await anIngestKey(world)
    await whileSuspended(async () =>
      assert.equal((await post(`${world.baseUrl}/v1/ingest/${key}/d`, '{}')).status, 403),
    )
    assert.equal(
      (await ask(world, 'POST rules', { headers: owner, body: { name: 'after', dataset: 'x' } })).status,
      201,
    )
    assert.equal((await post(`${world.baseUrl}/v1/ingest/${key}/d`, '{}')).status, 201)
  })
})
