import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { encodeId, LIMITS, SERVICE_VERSION } from '@postroad/contract'
import { sql, type Database } from '../../src/platform/db.ts'
import { behind, signedIn } from '../stage/fixtures.ts'
import { aWorld, type Answer, type World } from '../stage/harness.ts'
import { Mailbox } from '../stage/mailbox.ts'
import { aKeyOf, aMember, ask, aWorkspace, theWorkspace, type Headers, type Member } from '../stage/people.ts'

/** Requests for single sign-on, all their states (contract part 3), and the configuration that nobody replaces (part 4). */
let world: World
let database: Database
let box: Mailbox
let operator: Headers

before(async () => {
  box = await Mailbox.open()
  world = await aWorld({ env: { OPERATORS: 'operator@example.com', DATA_DIR: box.folder }, loops: [] })
  database = behind(world)
  const main = await theWorkspace(database)
  await database.run(sql`update users set email = 'operator@example.com' where id = ${main.userId}`)
  operator = await signedIn(world, main)
})
after(async () => {
  await database.close()
  await world.stop()
  await box.remove()
})

let made = 0

async function aHome(): Promise<Member & { readonly headers: Headers }> {
  made += 1
  const owner = await aWorkspace(world, database, `sso-${made}`)
  return { ...owner, headers: await signedIn(world, owner) }
}

type Home = Awaited<ReturnType<typeof aHome>>

const said = ({ status, body }: Answer): string => (status < 300 ? String(status) : `${status} ${body.reason}`)
const request = (headers: Headers, body: object = { domains: ['example.com'] }): Promise<Answer> =>
  ask(world, 'POST sso/requests', { headers, body })
const cancel = (headers: Headers, id: string): Promise<Answer> => ask(world, `DELETE sso/requests/${id}`, { headers })
const decide = (id: string, status: string, reason = 'Because'): Promise<Answer> =>
  ask(world, `PATCH platform/sso-requests/${id}`, { headers: operator, body: { status, reason } })
const listed = async ({ headers }: Home): Promise<readonly Answer['body'][]> =>
  (await ask(world, 'GET sso/requests', { headers })).body.requests
const statuses = async (home: Home): Promise<readonly string[]> => (await listed(home)).map(({ status }) => status)

describe('requests of several kinds', () => {
  test('a request for an organization or a Google Workspace is a request like one for SSO, and replaces only its own kind', async () => {
    const home = await aHome()
    const lines = ['sso/requests', 'organization/requests', 'google-workspace/link', 'organization/requests']
    const asked: Answer['body'][] = []
    for (const line of lines) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const answer = await ask(world, `POST ${line}`, { headers: home.headers, body: { domains: ['example.com'] } })
      assert.equal(answer.status, 201, JSON.stringify(answer.body))
      asked.push(answer.body.request)
    }
    assert.deepEqual(
      asked.map(({ kinds, supersedes }) => [kinds, supersedes]),
      [
        [['sso'], null],
        [['organization'], null],
        [['google_workspace'], null],
        [['organization'], asked[1].id],
      ],
    )
    assert.deepEqual(await statuses(home), ['pending', 'pending', 'superseded', 'pending'])
    const { sso } = (await ask(world, 'GET sso', { headers: home.headers })).body
    assert.deepEqual(sso.request.id, asked[0].id, 'GET sso shows the request for SSO')
    assert.equal((await decide(asked[2].id, 'approved', 'From Monday on')).status, 200)
    assert.equal((await cancel(home.headers, asked[3].id)).status, 200)
    assert.deepEqual(await statuses(home), ['cancelled', 'approved', 'superseded', 'pending'])
  })

  test('a domain below which anyone can register is refused', async () => {
    const home = await aHome()
    for (const domain of ['co.uk', 'github.io'])
      assert.equal(said(await request(home.headers, { domains: ['example.com', domain] })), '400 invalid_request')
  })
})

describe('a request', () => {
  test('a new request is pending, with an id of the form sreq_<hex>, its domains and its note', async () => {
    const home = await aHome()
    const { status, body } = await request(home.headers, {
      domains: ['Example.com', 'example.org', 'example.com'],
      note: ' We use Okta. ',
    })
    const { id, requested_at, ...rest } = body.request
    assert.equal(status, 201)
    assert.match(id, /^sreq_[0-9a-f]{32}$/)
    assert.ok(Date.parse(requested_at) > 0)
    assert.deepEqual(rest, {
      kinds: ['sso'],
      domains: ['example.com', 'example.org'],
      note: 'We use Okta.',
      status: 'pending',
      decided_at: null,
      reason: null,
      supersedes: null,
    })
    assert.deepEqual((await ask(world, 'GET sso', { headers: home.headers })).body.sso, {
      identity_provider: null,
      request: body.request,
    })
  })

  test('a pending request is superseded by the next one, which names it, also when two come at the same time', async () => {
    const home = await aHome()
    const first = (await request(home.headers)).body.request
    const second = (await request(home.headers)).body.request
    assert.equal(second.supersedes, first.id)
    assert.deepEqual(await statuses(home), ['pending', 'superseded'])
    const both = await Promise.all([request(home.headers), request(home.headers)])
    assert.deepEqual(both.map(said), ['201', '201'])
    assert.deepEqual((await statuses(home)).filter((one) => one === 'pending').length, 1)
    assert.equal(said(await cancel(home.headers, first.id)), '409 invalid_state')
  })

  test('a request after a decided one supersedes none', async () => {
    const home = await aHome()
    const { id } = (await request(home.headers)).body.request
    await decide(id, 'declined')
    assert.equal((await request(home.headers)).body.request.supersedes, null)
    assert.deepEqual(await statuses(home), ['pending', 'declined'])
  })

  test('an owner cancels a request and gets {ok: true, request}; a second cancellation is refused', async () => {
    const home = await aHome()
    const { id } = (await request(home.headers)).body.request
    const { status, body } = await cancel(home.headers, id)
    assert.deepEqual([status, body.ok, body.request.id, body.request.status], [200, true, id, 'cancelled'])
    assert.equal(said(await cancel(home.headers, id)), '409 invalid_state')
    assert.deepEqual(await statuses(home), ['cancelled'])
  })

  test('an owner may cancel a request while the workspace is suspended, but not make one', async () => {
    const home = await aHome()
    const { id } = (await request(home.headers)).body.request
    await database.run(sql`update workspaces set suspended_at = now() where id = ${home.workspaceId}`)
    assert.equal(said(await request(home.headers)), '403 workspace_suspended')
    assert.deepEqual(await statuses(home), ['pending'])
    assert.equal(said(await cancel(home.headers, id)), '200')
  })

  test('an approved request cannot be canceled', async () => {
    const home = await aHome()
    const { id } = (await request(home.headers)).body.request
    assert.equal(said(await decide(id, 'approved')), '200')
    const refused = await cancel(home.headers, id)
    assert.equal(said(refused), '409 invalid_state')
    assert.match(refused.body.error, /already approved/)
    assert.deepEqual(await statuses(home), ['approved'])
  })

  test('only owners make and cancel requests; admins, and keys of the role admin, read them', async () => {
    const home = await aHome()
    const { id } = (await request(home.headers)).body.request
    const admin = await signedIn(world, await aMember(world, database, { ...home, role: 'admin' }))
    const developer = await signedIn(world, await aMember(world, database, { ...home, role: 'developer' }))
    const key = (await aKeyOf(world, database, home)).headers
    for (const headers of [admin, key]) {
      assert.equal(said(await request(headers)), '403 insufficient_role')
      assert.equal(said(await cancel(headers, id)), '403 insufficient_role')
      assert.equal((await ask(world, 'GET sso/requests', { headers })).body.requests[0].id, id)
    }
    assert.equal(said(await ask(world, 'GET sso/requests', { headers: developer })), '403 insufficient_role')
  })

  test('a request of another workspace gets the same 404 as an unknown one', async () => {
    const [home, stranger] = [await aHome(), await aHome()]
    const { id } = (await request(home.headers)).body.request
    const [theirs, random] = [
      await cancel(stranger.headers, id),
      await cancel(stranger.headers, encodeId('ssoRequest', world.app.deps.uuid())),
    ]
    assert.deepEqual([said(theirs), theirs.body], ['404 not_found', random.body])
    assert.deepEqual(await statuses(home), ['pending'])
  })

  test('a request without valid domains, or with more than a kind and a short note, is refused', async () => {
    const home = await aHome()
    for (const body of [
      {},
      { domains: [] },
      { domains: ['example'] },
      { domains: ['ada@example.com'] },
      { domains: ['https://example.com'] },
      { domains: ['exa mple.com'] },
      { domains: ['-a.com'] },
      { domains: ['example.com'], kinds: ['scim'] },
      { domains: Array.from({ length: LIMITS.ssoDomainsMax + 1 }, (_, index) => `d${index}.example.com`) },
      { domains: ['example.com'], note: 'x'.repeat(LIMITS.ssoNoteCharsMax + 1) },
    ])
      assert.equal(said(await request(home.headers, body)), '400 invalid_request', JSON.stringify(body).slice(0, 60))
    assert.deepEqual(await statuses(home), [])
  })
})

describe('an operator', () => {
  test('reads the requests of all workspaces, by status, and one by its id', async () => {
    const [home, other] = [await aHome(), await aHome()]
    const mine = (await request(home.headers)).body.request
    const theirs = (await request(other.headers)).body.request
    await decide(theirs.id, 'declined')
    const ids = async (query: string): Promise<readonly string[]> =>
      (await ask(world, `GET platform/sso-requests${query}`, { headers: operator })).body.requests.map(
        ({ id }: { id: string }) => id,
      )
    assert.deepEqual((await ids('')).slice(0, 2), [theirs.id, mine.id])
    assert.equal((await ids('?status=pending'))[0], mine.id)
    assert.equal((await ids('?status=declined'))[0], theirs.id)
    const one = (await ask(world, `GET platform/sso-requests/${mine.id}`, { headers: operator })).body.request
    assert.deepEqual(
      [one.workspace.id, one.requested_by],
      [encodeId('workspace', home.workspaceId), encodeId('user', home.userId)],
    )
  })

  test('decides once, with a reason that the owner reads and gets by email', async () => {
    const home = await aHome()
    const email = `owner-${made}@example.com`
    await database.run(sql`update users set email = ${email} where id = ${home.userId}`)
    await aMember(world, database, { ...home, role: 'admin' })
    const { id } = (await request(home.headers)).body.request
    const decided = await decide(id, 'approved', 'Sign in with Okta from Monday on.')
    assert.deepEqual(
      [decided.body.request.status, decided.body.request.reason],
      ['approved', 'Sign in with Okta from Monday on.'],
    )
    const mail = await box.next(world)
    assert.deepEqual([mail.to, mail.subject], [email, 'Your SSO request was approved'])
    assert.match(mail.text, /example\.com[^]*Reason: Sign in with Okta from Monday on\./)
    operator = await signedIn(world, await theWorkspace(database))
    for (const status of ['approved', 'declined']) assert.equal(said(await decide(id, status)), '409 invalid_state')
    const [shown] = await listed({ ...home, headers: await signedIn(world, home) })
    assert.deepEqual(
      [shown.status, shown.reason, typeof shown.decided_at],
      ['approved', 'Sign in with Okta from Monday on.', 'string'],
    )
    await world.run('mail.send')
    assert.deepEqual(await box.unread(), [])
  })

  test('an operator must give a reason', async () => {
    const { id } = (await request((await aHome()).headers)).body.request
    for (const body of [
      { status: 'approved' },
      { status: 'approved', reason: ' ' },
      { status: 'cancelled', reason: 'x' },
    ])
      assert.equal(
        said(await ask(world, `PATCH platform/sso-requests/${id}`, { headers: operator, body })),
        '400 invalid_request',
      )
  })
})

const put = (headers: Headers, body: string): Promise<Answer> => ask(world, 'PUT sso/anything', { headers, body })

describe('PUT sso/{id}', () => {
  test('the answer is 501 sso_not_available for every caller, before version, credential, role or body are examined', async () => {
    const home = await aHome()
    const viewer = await signedIn(world, await aMember(world, database, { ...home, role: 'viewer' }))
    const { 'x-requested-with': _page, ...foreignPage } = home.headers
    await database.run(sql`update workspaces set suspended_at = now() where id = ${home.workspaceId}`)
    for (const headers of [
      {},
      { authorization: 'Bearer hk_unknown' },
      { authorization: 'Basic x' },
      { 'service-version': '1999-01-01' },
      home.headers,
      foreignPage,
      viewer,
      (await aKeyOf(world, database, home)).headers,
      operator,
    ]) {
      for (const body of ['', '{', '{"a":1}', 'x'.repeat(1_100_000)]) {
        const answer = await put({ ...headers }, body)
        assert.deepEqual(
          [answer.status, answer.body.reason, answer.headers.get('service-version')],
          [501, 'sso_not_available', SERVICE_VERSION],
          JSON.stringify(headers),
        )
      }
    }
  })

  test('the route changes nothing', async () => {
    const had = await database.many(sql`select id from sso_requests order by id`)
    await put(operator, '{"issuer":"https://login.example.com"}')
    assert.deepEqual(await database.many(sql`select id from sso_requests order by id`), had)
  })
})
