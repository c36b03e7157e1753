import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { LIMITS } from '@postroad/contract'
import { createOutboundHttp } from '../../src/platform/outbound-http.ts'
import type { Resolver } from '../../src/platform/resolver.ts'
import { runUpkeep } from '../../src/workers/upkeep.ts'
import type { Database } from '../../src/platform/db.ts'
import { Browser } from '../stage/browser.ts'
import { behind } from '../stage/fixtures.ts'
import { aWorld, type World, type WorldOptions } from '../stage/harness.ts'
import {
  aBrowserOf,
  aClient,
  aConnectedAgent,
  allows,
  aPkce,
  asksFor,
  authorizeUrl,
  forgetRates,
  goesOn,
  redeem,
  REDIRECT,
  refresh,
  register,
  sendForm,
} from '../stage/oauth-stage.ts'
import { theWorkspace, type Member } from '../stage/people.ts'
import { aCertificate } from '../stage/provider-stage.ts'

/** How clients introduce themselves: by a registration, or by a document at the URL that is their id. */

const HOSTS = [
  'client.example',
  'private.example',
  'metadata.example',
  'six.example',
  'mapped.example',
  'elsewhere.example',
]
const ADDRESSES: Readonly<Record<string, string>> = {
  'private.example': '10.1.2.3',
  'metadata.example': '169.254.169.254',
  'six.example': '::1',
  'mapped.example': '::ffff:127.0.0.1',
}

type Document = { readonly status?: number; readonly headers?: Record<string, string>; readonly body: string }

let world: World
let guarded: World
let database: Database
let owner: Member
let server: Server
let options: WorldOptions
const asked: string[] = []
const documents = new Map<string, Document>()
const lookups: string[] = []

/** Every name leads to this machine, except those that lead to a private address. */
const resolver: Resolver = {
  resolve: (name) => {
    lookups.push(name)
    return Promise.resolve({ kind: 'addresses', source: 'dns', addresses: [ADDRESSES[name] ?? '127.0.0.1'] } as const)
  },
  close: () => undefined,
}

before(async () => {
  const own = aCertificate('clients', HOSTS)
  server = createServer({ key: own.key, cert: own.cert }, (request, response) => {
    const url = `https://${request.headers.host}${request.url}`
    asked.push(url)
    const { status = 200, headers = {}, body } = documents.get(url) ?? { status: 404, body: '' }
    response.writeHead(status, headers).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  options = {
    outbound: (given) => createOutboundHttp({ ...given, resolver, ca: own.cert }),
  }
  world = await aWorld({ loops: [], ...options })
  database = behind(world)
  owner = await theWorkspace(database)
  guarded = await aWorld({ ...options, beside: world, env: { OUTBOUND_ALLOW: '' } })
})
after(async () => {
  await guarded.stop()
  await database.close()
  await world.stop()
  server.closeAllConnections()
  server.close()
})

const idAt = (path: string, host = 'client.example'): string =>
  `https://${host}:${(server.address() as AddressInfo).port}${path}`

function publish(id: string, members: object = {}, document: Partial<Document> = {}): string {
  documents.set(id, {
    body: JSON.stringify({ client_id: id, client_name: 'A published client', redirect_uris: [REDIRECT], ...members }),
    ...document,
  })
  return id
}

/** A process at its own address, whatever PUBLIC_URL is. */
const atItsAddress = (one: World): World => ({ ...one, baseUrl: one.address })

/** The status of an authorization request of this client, by a person who is signed in. */
async function statusOf(client: string, at = world): Promise<number> {
  await forgetRates(at)
  const browser = await aBrowserOf(at, owner)
  return (await browser.call(`GET ${authorizeUrl(at, { client })}`)).status
}

test('a client whose id is the URL of its document connects, and the consent page names its host', async () => {
  const client = publish(idAt('/client.json'), { grant_types: ['authorization_code', 'refresh_token'] })
  const browser = await aBrowserOf(world, owner)
  const pkce = aPkce()
  const page = await asksFor(browser, authorizeUrl(world, { client, pkce }))
  const shown = (await browser.call(`GET ${page}/request`)).body
  assert.deepEqual(shown.client, { name: 'A published client', host: new URL(client).host })
  const back = await allows(browser, page, { scope: 'service:read', workspaceId: owner.workspaceId })
  const { status, body } = await redeem(world, { client, code: back.searchParams.get('code') ?? '', pkce })
  assert.equal(status, 200, JSON.stringify(body))
  const again = await refresh(world, { client, token: body.refresh_token })
  assert.equal(again.status, 200)
  const { agents } = (await browser.call('GET agents')).body
  assert.equal(agents.find((one: { client_id: string }) => one.client_id === client).host, new URL(client).host)
  assert.equal(asked.filter((url) => url === client).length, 1, 'fetched once')

  // A process that has not seen the document fetches it, because a person has connected the client.
  const later = await refresh(guarded, { client, token: again.body.refresh_token })
  assert.equal(later.body.error, 'invalid_client', 'that process may reach no private address')
  const beside = await aWorld({ ...options, beside: world, env: { PUBLIC_URL: world.baseUrl } })
  try {
    assert.equal((await refresh(atItsAddress(beside), { client, token: again.body.refresh_token })).status, 200)
  } finally {
    await beside.stop()
  }
})

test('a client that asks again continues its connection, with the new scope', async () => {
  const client = publish(idAt('/again.json'))
  const first = await aConnectedAgent(world, { member: owner, scope: 'service:read', client })
  const browser = await aBrowserOf(world, owner)
  const page = await asksFor(browser, authorizeUrl(world, { client, members: { scope: 'service:write' } }))
  const [workspace] = (await browser.call(`GET ${page}/request`)).body.workspaces
  assert.equal(workspace.scope, 'service:read', 'the page shows the scope that it has')
  await allows(browser, page, { scope: 'service:write', workspaceId: owner.workspaceId })
  const { agents } = (await browser.call('GET agents')).body
  const its = agents.filter((one: { client_id: string }) => one.client_id === client)
  assert.deepEqual([its.length, its[0].id, its[0].scope], [1, first.agent, 'service:write'])
})

test('the consent page, its answer and the way back work on processes that have not seen the document', async () => {
  await forgetRates(world)
  const env = { PUBLIC_URL: world.baseUrl }
  const first = await aWorld({ ...options, beside: world, env })
  const second = await aWorld({ ...options, beside: world, env })
  try {
    const browser = await aBrowserOf(world, owner)
    const client = publish(idAt('/processes.json'))
    const page = await asksFor(browser, authorizeUrl(world, { client }))
    const shown = await browserAt(first, browser).call(`GET ${page}/request`)
    assert.equal(shown.body.client?.host, new URL(client).host, shown.text)
    const choice = { scope: 'service:read', workspaceId: owner.workspaceId } as const
    const back = await allows(browserAt(second, browser), page, choice)
    assert.ok(back.searchParams.get('code'))

    const refused = await asksFor(browser, authorizeUrl(world, { client: publish(idAt('/refused.json')) }))
    const decided = await browserAt(second, browser).call(`POST ${refused}/request`, { decision: 'deny' })
    assert.equal(decided.status, 200, decided.text)
    const { searchParams } = await goesOn(browserAt(first, browser), decided.body.next)
    assert.equal(searchParams.get('error'), 'access_denied')

    const gone = publish(idAt('/gone.json'))
    const asks = await asksFor(browser, authorizeUrl(world, { client: gone }))
    documents.delete(gone)
    const { status, body } = await browserAt(first, browser).call(`GET ${asks}/request`)
    assert.deepEqual([status, body.reason], [400, 'oauth_client_unknown'])
    assert.match(body.error, /cannot be read now\. Try again/)
  } finally {
    await second.stop()
    await first.stop()
  }
})

/** The same browser, whose next request another process answers. */
function browserAt(one: World, { cookies }: Browser): Browser {
  const browser = new Browser(one.address)
  for (const [name, value] of cookies) browser.cookies.set(name, value)
  return browser
}

test('nobody makes the server fetch a document without a sign-in, or by a token request', async () => {
  const client = publish(idAt('/unasked.json'))
  const had = asked.length
  const visit = await fetch(`${world.baseUrl}${authorizeUrl(world, { client })}`, { redirect: 'manual' })
  assert.equal(visit.status, 303)
  assert.match(visit.headers.get('location') ?? '', /^\/sign-in\?next=%2Fapi%2Foauth%2Fauthorize/)
  for (const path of ['token', 'revoke', 'device_authorization'])
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    assert.ok(
      (await sendForm(world, path, { client_id: client, grant_type: 'refresh_token', token: 'x', refresh_token: 'x' }))
        .status >= 400,
    )
  assert.equal(asked.length, had)
})

test('a document at a private address is not fetched', async () => {
  const { port } = server.address() as AddressInfo
  const ids = [
    ...Object.keys(ADDRESSES).map((host) => idAt('/private.json', host)),
    `https://127.0.0.1:${port}/private.json`,
    `https://[::1]:${port}/private.json`,
    `https://10.0.0.1/private.json`,
    `https://169.254.169.254/latest/meta-data`,
    `https://2130706433:${port}/private.json`,
    `https://0x7f000001:${port}/private.json`,
    `https://client.example:${port}/private.json`,
  ]
  const had = asked.length
  for (const id of ids) {
    publish(id)
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    assert.equal(await statusOf(id, guarded), 400, id)
  }
  assert.equal(asked.length, had, 'no request has arrived')
})

test('a document that does not describe exactly this client is refused', async () => {
  const shown = idAt('/elsewhere.json', 'elsewhere.example')
  publish(shown)
  const bad: Readonly<Record<string, () => string>> = {
    'another id': () => publish(idAt('/other-id.json'), { client_id: shown }),
    'no id': () => publish(idAt('/no-id.json'), { client_id: undefined }),
    'a redirect to another document': () =>
      publish(idAt('/moved.json'), {}, { status: 302, headers: { location: shown } }),
    'no JSON': () => publish(idAt('/text.json'), {}, { body: '<html>' }),
    'a list': () => publish(idAt('/list.json'), {}, { body: '[]' }),
    'too long': () => publish(idAt('/long.json'), { software: 'x'.repeat(20_000) }),
    'another status': () => publish(idAt('/status.json'), {}, { status: 201 }),
    'no redirect': () => publish(idAt('/redirects.json'), { redirect_uris: [] }),
    'a redirect by http': () => publish(idAt('/http.json'), { redirect_uris: ['http://client.example/cb'] }),
    'nothing there': () => idAt('/missing.json'),
    'no path that stays': () => idAt('/a/../client.json'),
    'a fragment': () => `${idAt('/client.json')}#x`,
    'a name and password': () => idAt('/client.json').replace('https://', 'https://a:b@'),
  }
  for (const [what, made] of Object.entries(bad)) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    assert.equal(await statusOf(made()), 400, what)
  }
})

test('the documents that one address makes the server fetch are limited', async () => {
  await forgetRates(world)
  const browser = await aBrowserOf(world, owner)
  const had = asked.length
  for (let index = 0; index < 25; index += 1)
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await browser.call(`GET ${authorizeUrl(world, { client: idAt(`/many-${index}.json`) })}`)
  assert.equal(asked.length - had, 20)
  await forgetRates(world)
})

test('the clients that one address registers are limited', async () => {
  await forgetRates(world)
  const statuses: number[] = []
  for (let index = 0; index < 21; index += 1) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const { status, headers } = await register(world)
    statuses.push(status)
    if (status === 429) assert.equal(headers.get('retry-after'), '60')
  }
  assert.deepEqual(statuses, [...Array.from({ length: 20 }, () => 201), 429])
  world.clock.advance(60_000)
  assert.equal((await register(world)).status, 201)
})

test('a registration gets what the server supports: a public client with PKCE, and no secret', async () => {
  await forgetRates(world)
  const { body } = await register(world, {
    token_endpoint_auth_method: 'client_secret_post',
    grant_types: ['authorization_code', 'urn:ietf:params:oauth:grant-type:device_code', 'implicit'],
    response_types: ['code', 'token'],
    scope: 'service:read',
    client_secret: 'mine',
    logo_uri: 'https://evil.example/logo.png',
  })
  assert.equal(body.token_endpoint_auth_method, 'none')
  assert.deepEqual(body.grant_types, ['authorization_code'])
  assert.deepEqual(body.response_types, ['code'])
  assert.equal(body.client_secret, undefined)
  assert.equal(body.logo_uri, undefined)
})

test('a body that only another reader would understand registers nothing, and makes the server fetch nothing', async () => {
  await forgetRates(world)
  const had = asked.length
  const metadata = JSON.stringify({
    client_name: 'A hidden client',
    redirect_uris: [],
    response_types: [],
    grant_types: ['urn:ietf:params:oauth:grant-type:device_code'],
    token_endpoint_auth_method: 'none',
  })
  const sector = JSON.stringify({ redirect_uris: [REDIRECT], sector_identifier_uri: idAt('/sector.json') })
  const deep = `,"x":${'['.repeat(300)}${']'.repeat(300)}}`
  const bodies = [
    ['nested too deep', 'application/json', metadata.replace(/}$/, deep)],
    ['nested too deep, with a URL to fetch', 'application/json', sector.replace(/}$/, deep)],
    ['behind a mark', 'application/json; charset=utf-8', `\ufeff${metadata}`],
    ['in another charset', 'application/json; charset=utf-16le', Buffer.from(metadata, 'utf16le')],
    ['a list', 'application/json', '[]'],
    ['nothing', 'application/json', ''],
  ] as const
  for (const [what, type, body] of bodies) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    const answer = await fetch(`${world.baseUrl}/api/oauth/register`, {
      method: 'POST',
      headers: { 'content-type': type },
      body,
    })
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    assert.equal(answer.status, 400, `${what}: ${await answer.text()}`)
  }
  assert.equal(asked.length, had)
})

test('a body that is too large is refused with the limit of its address', async () => {
  const { status, body } = await register(world, { client_name: 'x'.repeat(LIMITS.oauthBodyBytesMax) })
  assert.deepEqual([status, body.reason], [413, 'payload_too_large'])
  assert.match(body.error, new RegExp(`larger than ${LIMITS.oauthBodyBytesMax} bytes`))
})

test('a client on this machine may use any port, and nothing else may differ', async () => {
  await forgetRates(world)
  const client = await aClient(world, { redirect_uris: ['http://localhost/callback'] })
  const browser = await aBrowserOf(world, owner)
  const status = async (redirect: string) =>
    (await browser.call(`GET ${authorizeUrl(world, { client, members: { redirect_uri: redirect } })}`)).status
  assert.equal(await status('http://localhost:49152/callback'), 303)
  assert.equal(await status('http://localhost:49152/other'), 400)
  assert.equal(await status('http://127.0.0.1:49152/callback'), 400)
})

test('clients that nobody connects are removed after a day; the others stay', async () => {
  await forgetRates(world)
  const [unused, used] = [await aClient(world), await aClient(world)]
  // PostgreSQL reads no JSON with this character, so one such client must not stop the removal of all.
  await aClient(world, { redirect_uris: ['https://client.example/cb?\0'] })
  await aConnectedAgent(world, { member: owner, scope: 'service:read', client: used })
  world.clock.advance(23 * 3_600_000)
  await runUpkeep(world.app.deps)
  assert.equal(await statusOf(unused), 303)
  world.clock.advance(2 * 3_600_000)
  await runUpkeep(world.app.deps)
  assert.equal(await statusOf(unused), 400)
  assert.equal(await statusOf(used), 303)
  const { count } = await database.one<{ count: number }>({
    strings: [`select count(*) as count from oauth_entries where kind in ('Interaction', 'AuthorizationCode')`],
    values: [],
  })
  assert.ok(count <= 2, 'what has expired is gone')
})
