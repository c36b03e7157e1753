import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql, type Database } from '../../src/platform/db.ts'
import { Browser } from '../stage/browser.ts'
import { behind } from '../stage/fixtures.ts'
import { aWorld, type World } from '../stage/harness.ts'
import {
  anIdentityProvider,
  settingsFor,
  signInThere,
  type Claims,
  type IdentityProvider,
} from '../stage/identity-provider.ts'
import { anOwner, aPerson } from '../stage/accounts.ts'

let provider: IdentityProvider
let world: World
let database: Database

before(async () => {
  provider = await anIdentityProvider()
  world = await aWorld({ env: { ...settingsFor(provider), LOG_LEVEL: 'silent' }, loops: [] })
  database = behind(world)
})
after(async () => {
  await database.close()
  await world.stop()
  await provider.stop()
})

const browser = (): Browser => new Browser(world.baseUrl)
const signIn = (claims: Claims, options: { next?: string; at?: World; accept?: string; with?: Browser } = {}) =>
  signInThere(provider, options.with ?? new Browser((options.at ?? world).baseUrl), {
    baseUrl: (options.at ?? world).baseUrl,
    claims,
    ...options,
  })

test('a person with a proven address signs in by the provider, continues to the page that they wanted, and is identified by (issuer, sub) from then on', async () => {
  const person = await aPerson(world, database)
  const one = browser()
  const answer = await signIn(
    { sub: 'a', email: person.email.toUpperCase(), email_verified: true },
    { next: '/account', with: one },
  )
  assert.deepEqual([answer.status, answer.headers.get('location')], [303, '/account'])
  assert.equal((await one.call('GET account')).body.user.email, person.email)
  assert.deepEqual(
    (await one.call('GET account')).body.identities.map(({ issuer }: { issuer: string }) => issuer),
    [provider.issuer],
  )
  const other = browser()
  assert.equal(
    (await signIn({ sub: 'a', email: 'moved@example.com', email_verified: false }, { with: other })).status,
    303,
  )
  assert.equal((await other.call('GET account')).body.user.email, person.email)
})

test('a person signs in although the page after it has a long address', async () => {
  const person = await aPerson(world, database)
  const claims = { sub: 'long', email: person.email, email_verified: true }
  const { status, headers } = await signIn(claims, { next: `/${'x'.repeat(4_000)}` })
  assert.deepEqual([status, headers.get('location')], [303, '/'])
})

test('an address that the provider does not report as verified links no account, and neither does a missing or an unknown address', async () => {
  const person = await aPerson(world, database)
  for (const [index, claims] of [
    { email: person.email, email_verified: false },
    { email: person.email },
    {},
    { email: 'stranger@example.com', email_verified: true },
  ].entries()) {
    const answer = await signIn({ sub: `unverified ${index}`, ...claims })
    assert.deepEqual([answer.status, answer.body.reason], [403, 'no_account'])
  }
  const { found } = await database.one<{ found: number }>(
    sql`select count(*) as found from identities where user_id = ${person.userId}`,
  )
  assert.equal(found, 0)
})

test('an address whose letters only look alike, or become alike in lower case, is another address', async () => {
  const person = await aPerson(world, database)
  const kelvin = await aPerson(world, database)
  await database.run(sql`update users set email = 'kim@example.com' where id = ${kelvin.userId}`)
  for (const [index, email] of [
    '\u212Aim@example.com',
    person.email.replace('e', '\u0435'),
    `${person.email}\u200b`,
    ` ${person.email}`,
  ].entries()) {
    assert.equal((await signIn({ sub: `alike ${index}`, email, email_verified: true })).body.reason, 'no_account')
  }
})

test('a page starts the sign-in by POST, so that the next page, which can be a link with a token, is in no URL', async () => {
  const person = await aPerson(world, database)
  const one = browser()
  const { body, status } = await one.call('POST session/oidc', { next: '/invites/accept#t=a-token-of-an-invite' })
  assert.equal(status, 200)
  provider.person = { sub: 'posted', email: person.email, email_verified: true }
  const back = await provider.visit(body.url)
  assert.doesNotMatch(body.url + back.href, /a-token-of/)
  assert.equal(
    (await one.call(`GET ${back.pathname}${back.search}`)).headers.get('location'),
    '/invites/accept#t=a-token-of-an-invite',
  )
})

test('an invited address that the provider reports as verified becomes an account, and no other address does', async () => {
  const owner = await anOwner(world)
  assert.equal((await owner.call('POST invites', { email: 'invited@example.com', role: 'viewer' })).status, 201)
  assert.equal(
    (await signIn({ sub: 'invited', email: 'invited@example.com', email_verified: false })).body.reason,
    'no_account',
  )
  const one = browser()
  assert.equal(
    (await signIn({ sub: 'invited', email: 'invited@example.com', email_verified: true, name: 'Ines' }, { with: one }))
      .status,
    303,
  )
  assert.deepEqual((({ name, email }) => ({ name, email }))((await one.call('GET account')).body.user), {
    name: 'Ines',
    email: 'invited@example.com',
  })
  assert.equal((await one.call('GET webhooks')).body.reason, 'no_workspace')
})

test('two simultaneous first sign-ins of one person both succeed', async () => {
  const person = await aPerson(world, database)
  const claims = { sub: 'twice', email: person.email, email_verified: true }
  const answers = await Promise.all([signIn(claims), signIn(claims)])
  assert.deepEqual(
    answers.map(({ status }) => status),
    [303, 303],
  )
})

test('a sign-in ends in the browser that started it, once, within ten minutes', async () => {
  const person = await aPerson(world, database)
  provider.person = { sub: 'b', email: person.email, email_verified: true }
  const [own, foreign] = [browser(), browser()]
  const begun = await own.call('GET session/oidc')
  const back = await provider.visit(begun.headers.get('location') ?? '')
  const line = `GET ${back.pathname}${back.search}`
  assert.equal((await foreign.call(line)).body.reason, 'oidc_state_lost')
  await foreign.call('GET session/oidc')
  assert.equal(
    (await foreign.call(line)).body.reason,
    'oidc_state_lost',
    'nor in a browser that has begun another sign-in',
  )
  const kept = own.header()
  assert.equal((await own.call(line)).status, 303)
  assert.equal(own.cookies.has('service_sign_in'), false)
  assert.equal(
    (await browser().call(line, undefined, { cookie: kept })).body.reason,
    'identity_provider_error',
    'the code is used up',
  )
  const late = browser()
  const lateBack = await provider.visit((await late.call('GET session/oidc')).headers.get('location') ?? '')
  world.clock.advance(600_000)
  assert.equal((await late.call(`GET ${lateBack.pathname}${lateBack.search}`)).body.reason, 'oidc_state_lost')
})

test('the answer of the provider is validated: a changed state, the code of another sign-in, an error', async () => {
  const person = await aPerson(world, database)
  provider.person = { sub: 'c', email: person.email, email_verified: true }
  for (const [change, reason] of [
    [(query: URLSearchParams) => query.set('state', 'another'), 'oidc_state_lost'],
    [(query: URLSearchParams) => query.set('code', 'made-up'), 'identity_provider_error'],
    [(query: URLSearchParams) => query.set('iss', 'https://evil.example'), 'identity_provider_error'],
    [(query: URLSearchParams) => query.set('error', 'access_denied'), 'identity_provider_error'],
  ] as const) {
    const one = browser()
    const back = await provider.visit((await one.call('GET session/oidc')).headers.get('location') ?? '')
    change(back.searchParams)
    const answer = await one.call(`GET ${back.pathname}${back.search}`)
    assert.equal(answer.body.reason, reason)
    assert.equal(one.cookies.has('service_session'), false)
  }
})

test('the redirect to the provider carries PKCE, state and nonce, and the way back leads to PUBLIC_URL whatever the Host is', async () => {
  const answer = await browser().call('GET session/oidc', undefined, { 'x-forwarded-host': 'evil.example' })
  const { searchParams } = new URL(answer.headers.get('location') ?? '')
  assert.equal(searchParams.get('code_challenge_method'), 'S256')
  for (const name of ['code_challenge', 'state', 'nonce']) assert.ok((searchParams.get(name) ?? '').length >= 32, name)
  assert.equal(searchParams.get('redirect_uri'), `${world.baseUrl}/admin/api/session/oidc/callback`)
})

test('with allowed domains, no person of another domain signs in, known or not', async () => {
  const person = await aPerson(world, database)
  const strict = await aWorld({
    beside: world,
    now: world.clock.now() + 600_000,
    env: { ...settingsFor(provider), OIDC_ALLOWED_DOMAINS: 'example.com', LOG_LEVEL: 'silent' },
  })
  try {
    assert.equal((await signIn({ sub: 'd', email: person.email, email_verified: true }, { at: strict })).status, 303)
    for (const claims of [
      { email: 'a@evil-example.com', email_verified: true },
      { email: 'a@example.com.evil.org', email_verified: true },
      { email: person.email },
      {},
    ]) {
      assert.equal((await signIn({ sub: 'd', ...claims }, { at: strict })).body.reason, 'email_domain_not_allowed')
    }
  } finally {
    await strict.stop()
  }
})

test('a provider that does not answer leads to a page that reports it, and is asked again the next time', async () => {
  const lost = await aWorld({
    beside: world,
    now: world.clock.now() + 600_000,
    env: { ...settingsFor(provider), OIDC_ISSUER: 'http://127.0.0.1:9', LOG_LEVEL: 'silent' },
  })
  try {
    const answer = await new Browser(lost.baseUrl).call('GET session/oidc', undefined, { accept: 'text/html' })
    assert.equal(answer.status, 502)
    assert.match(answer.headers.get('content-type') ?? '', /^text\/html/)
    assert.match(answer.headers.get('content-security-policy') ?? '', /default-src 'none'/)
    assert.match(answer.text, /The identity provider did not respond correctly/)
    assert.doesNotMatch(answer.text, /127\.0\.0\.1:9|secret/)
  } finally {
    await lost.stop()
  }
  world.clock.advance(3_600_000)
  assert.equal((await browser().call('GET session/oidc')).status, 303)
})
