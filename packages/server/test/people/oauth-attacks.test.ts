import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeId, LIMITS } from '@postroad/contract'
import type { Database } from '../../src/platform/db.ts'
import type { Answer, World } from '../stage/harness.ts'
import {
  aBrowserOf,
  aClient,
  aConnectedAgent,
  allows,
  aPkce,
  asksFor,
  authorizeUrl,
  claimsIn,
  forgetRates,
  redeem,
  REDIRECT,
  refresh,
  register,
  sendForm,
  type Pkce,
} from '../stage/oauth-stage.ts'
import { aMember, aWorkspace, ask, theWorkspace, type Member } from '../stage/people.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** Attacks on OAuth servers and their clients, each refused. */

let world: World
let database: Database
let owner: Member
onWorldStage(
  async (made) => {
    ;({ world, database } = made)
    owner = await theWorkspace(database)
  },
  { loops: [] },
)

/** A code that the owner has just granted. */
async function aCode(client: string): Promise<{ readonly code: string; readonly pkce: Pkce }> {
  const browser = await aBrowserOf(world, owner)
  const pkce = aPkce()
  const page = await asksFor(browser, authorizeUrl(world, { client, pkce }))
  const back = await allows(browser, page, { scope: 'service:read', workspaceId: owner.workspaceId })
  return { code: back.searchParams.get('code') ?? '', pkce }
}

const isInvalidGrant = ({ status, body }: Answer): void =>
  assert.deepEqual([status, body.error], [400, 'invalid_grant'])

/** The error with which the browser returns to the client. */
async function errorAt(url: string): Promise<string | null> {
  const answer = await (await aBrowserOf(world, owner)).call(`GET ${url}`)
  assert.equal(answer.status, 303, answer.text)
  const location = new URL(answer.headers.get('location') ?? '', world.baseUrl)
  assert.equal(`${location.origin}${location.pathname}`, REDIRECT)
  return location.searchParams.get('error')
}

const interactions = async (): Promise<number> =>
  (
    await database.one<{ count: number }>({
      strings: [`select count(*)::int as count from oauth_entries where kind = 'Interaction'`],
      values: [],
    })
  ).count

const ATTACKS: Readonly<Record<string, () => Promise<void>>> = {
  'code replay: the second use of a code fails, and ends what the first one got': async () => {
    const client = await aClient(world)
    const { code, pkce } = await aCode(client)
    const first = await redeem(world, { client, code, pkce })
    assert.equal(first.status, 200)
    isInvalidGrant(await redeem(world, { client, code, pkce }))
    const headers = { authorization: `Bearer ${first.body.access_token}` }
    assert.equal((await ask(world, 'GET me', { headers })).body.reason, 'agent_revoked')
    isInvalidGrant(await refresh(world, { client, token: first.body.refresh_token }))
  },

  'code replay at the same moment: one request gets tokens': async () => {
    const client = await aClient(world)
    const { code, pkce } = await aCode(client)
    const answers = await Promise.all([1, 2, 3, 4].map(() => redeem(world, { client, code, pkce })))
    assert.ok(answers.filter(({ status }) => status === 200).length <= 1)
    assert.ok(answers.filter(({ body }) => body.error === 'invalid_grant').length >= 3)
  },

  'an old code: after a minute it is worth nothing': async () => {
    const client = await aClient(world)
    const { code, pkce } = await aCode(client)
    world.clock.advance(60_000)
    isInvalidGrant(await redeem(world, { client, code, pkce }))
  },

  'a stolen code: another client cannot redeem it': async () => {
    const { code, pkce } = await aCode(await aClient(world))
    isInvalidGrant(await redeem(world, { client: await aClient(world), code, pkce }))
  },

  'a stolen code: without the verifier, or with another one, it is worth nothing': async () => {
    const client = await aClient(world)
    const { code } = await aCode(client)
    isInvalidGrant(await redeem(world, { client, code, pkce: aPkce() }))
    isInvalidGrant(await redeem(world, { client, code, pkce: aPkce(), members: { code_verifier: undefined } }))
  },

  'PKCE downgrade: no challenge, an empty one, and the method plain': async () => {
    const client = await aClient(world)
    for (const members of [
      { code_challenge: undefined, code_challenge_method: undefined },
      { code_challenge: '' },
      { code_challenge_method: 'plain' },
      { code_challenge_method: undefined },
    ])
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      assert.equal(await errorAt(authorizeUrl(world, { client, members })), 'invalid_request', JSON.stringify(members))
  },

  'redirect mismatch: the person sees an error page, and nothing is sent anywhere': async () => {
    const client = await aClient(world, { redirect_uris: ['https://client.example/cb'] })
    for (const redirect of [
      'https://client.example/cb/',
      'https://client.example/cb?x=1',
      'https://client.example.evil.example/cb',
      'https://client.example/cb/../evil',
      'https://CLIENT.example/cb',
      'https://client.example:444/cb',
      'http://client.example/cb',
      'https://evil.example/cb',
      'https://client.example/cb#x',
      'javascript:alert(1)',
      '',
    ]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const browser = await aBrowserOf(world, owner)
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const answer = await browser.call(`GET ${authorizeUrl(world, { client, members: { redirect_uri: redirect } })}`)
      assert.equal(answer.status, 400, `"${redirect}": ${answer.headers.get('location')}`)
      assert.equal(answer.headers.get('location'), null, redirect)
      assert.match(answer.text, /<h1>Not connected<\/h1>/)
      assert.match(answer.headers.get('content-security-policy') ?? '', /default-src 'none'/)
      assert.ok(!answer.text.includes('evil'), 'the page repeats no address')
    }
  },

  'redirect mismatch at the token endpoint': async () => {
    const client = await aClient(world)
    const { code, pkce } = await aCode(client)
    isInvalidGrant(
      await redeem(world, { client, code, pkce, members: { redirect_uri: 'http://127.0.0.1:33418/other' } }),
    )
  },

  'a request of any length: nothing is stored of one that is too long': async () => {
    const client = await aClient(world)
    const had = await interactions()
    const url = authorizeUrl(world, { client, members: { state: 'x'.repeat(LIMITS.authorizationUrlCharsMax) } })
    const answer = await fetch(`${world.baseUrl}${url}`, { redirect: 'manual' })
    assert.equal(answer.status, 400)
    assert.match(await answer.text(), /more than 8192 characters/)
    assert.equal(await interactions(), had)
  },

  'redirects that a client may not register': async () => {
    await forgetRates(world)
    for (const uri of [
      'javascript:alert(1)',
      'data:text/html,x',
      'http://client.example/cb',
      'https://client.example/cb#fragment',
      'http://169.254.169.254/cb',
      'not a uri',
      7,
    ]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const { status, body } = await register(world, { redirect_uris: [uri] })
      assert.deepEqual([status, body.error], [400, 'invalid_redirect_uri'], `${uri}: ${JSON.stringify(body)}`)
    }
    assert.equal((await register(world, { redirect_uris: [] })).status, 400)
    const many = Array.from({ length: 21 }, (_, index) => `https://client.example/${index}`)
    assert.equal((await register(world, { redirect_uris: many })).status, 400)
  },

  'audience confusion: a token for another resource is not issued': async () => {
    const client = await aClient(world)
    for (const resource of [
      'https://other.example/mcp',
      world.baseUrl,
      `${world.baseUrl}/mcp/`,
      `${world.baseUrl}/admin/api`,
      `${world.baseUrl}/mcp#x`,
    ])
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      assert.equal(await errorAt(authorizeUrl(world, { client, members: { resource } })), 'invalid_target', resource)
    const { code, pkce } = await aCode(client)
    const answer = await redeem(world, { client, code, pkce, members: { resource: 'https://other.example/mcp' } })
    assert.equal(answer.status, 400)
    assert.equal(answer.body.error, 'invalid_target')
  },

  'audience confusion: a token with another audience, issuer, type, key or algorithm is not accepted': async () => {
    const { tokens } = await aConnectedAgent(world, { member: owner, scope: 'service:read' })
    const claims = claimsIn(tokens.access_token)
    const { SignJWT, importJWK, UnsecuredJWT, exportJWK, generateKeyPair } = await import('jose')
    const [jwk] = world.app.deps.accessTokens.privateKeys()
    assert.ok(jwk)
    const key = await importJWK(jwk, 'EdDSA')
    const sign = (
      changed: object,
      header: object = {},
      by: Parameters<InstanceType<typeof SignJWT>['sign']>[0] = key,
    ) =>
      new SignJWT({ ...claims, ...changed })
        .setProtectedHeader({ alg: 'EdDSA', typ: 'at+jwt', kid: jwk.kid, ...header })
        .sign(by)
    const accepted = async (token: string): Promise<boolean> =>
      (await ask(world, 'GET me', { headers: { authorization: `Bearer ${token}` } })).status === 200
    assert.ok(await accepted(await sign({})), 'the same claims are accepted')
    const other = await generateKeyPair('EdDSA')
    const forged: Readonly<Record<string, string>> = {
      audience: await sign({ aud: 'https://other.example/mcp' }),
      'no audience': await sign({ aud: undefined }),
      issuer: await sign({ iss: 'https://other.example' }),
      type: await sign({}, { typ: 'JWT' }),
      'another key': await sign({}, {}, other.privateKey),
      'an unknown key id': await sign({}, { kid: '00000000' }),
      'no signature': new UnsecuredJWT({ ...claims }).encode(),
      'the public key as a secret': await new SignJWT({ ...claims })
        .setProtectedHeader({ alg: 'HS256', typ: 'at+jwt', kid: jwk.kid })
        .sign(Buffer.from(JSON.stringify(await exportJWK(other.publicKey)))),
      'another person': await sign({ sub: encodeId('user', world.app.deps.uuid()) }),
      'another client': await sign({ client_id: 'somebody' }),
      'another grant': await sign({ grant: `${String(claims['grant']).split('.')[0]}.agt_01h455vb4pex5vsknk084sn02q` }),
      'no grant': await sign({ grant: undefined }),
      'no end': await sign({ exp: undefined }),
      'a later end of an old one': `${tokens.access_token.slice(0, -6)}AAAAAA`,
    }
    for (const [name, token] of Object.entries(forged))
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      assert.ok(!(await accepted(token)), name)
  },

  'refresh reuse: a stolen refresh token ends the connection of the thief and of the client': async () => {
    const { client, tokens, headers } = await aConnectedAgent(world, { member: owner, scope: 'service:read' })
    const thief = await refresh(world, { client, token: tokens.refresh_token })
    assert.equal(thief.status, 200)
    isInvalidGrant(await refresh(world, { client, token: tokens.refresh_token }))
    isInvalidGrant(await refresh(world, { client, token: thief.body.refresh_token }))
    assert.equal((await ask(world, 'GET me', { headers })).status, 401)
  },

  'refresh at the same moment: at most one request gets tokens': async () => {
    const { client, tokens } = await aConnectedAgent(world, { member: owner, scope: 'service:read' })
    const answers = await Promise.all([1, 2, 3, 4].map(() => refresh(world, { client, token: tokens.refresh_token })))
    assert.ok(answers.filter(({ status }) => status === 200).length <= 1)
  },

  'a stolen refresh token: another client cannot use it': async () => {
    const { tokens } = await aConnectedAgent(world, { member: owner, scope: 'service:read' })
    isInvalidGrant(await refresh(world, { client: await aClient(world), token: tokens.refresh_token }))
  },

  'mix-up: every answer names its issuer, errors too': async () => {
    const client = await aClient(world)
    const browser = await aBrowserOf(world, owner)
    const page = await asksFor(browser, authorizeUrl(world, { client }))
    const back = await allows(browser, page, { scope: 'service:read', workspaceId: owner.workspaceId })
    assert.equal(back.searchParams.get('iss'), world.baseUrl)
    const failed = await browser.call(
      `GET ${authorizeUrl(world, { client, members: { resource: 'https://x.example' } })}`,
    )
    assert.equal(new URL(failed.headers.get('location') ?? '').searchParams.get('iss'), world.baseUrl)
  },

  'mix-up: a Host header does not change the addresses of the server': async () => {
    const { host } = new URL(world.baseUrl)
    const { request } = await import('node:http')
    const [hostname, port] = host.split(':')
    const text = await new Promise<string>((resolve, reject) => {
      const sent = request(
        {
          hostname,
          port,
          path: '/api/oauth/device_authorization',
          method: 'POST',
          headers: {
            host: 'evil.example',
            'x-forwarded-host': 'evil.example',
            'content-type': 'application/x-www-form-urlencoded',
          },
        },
        (answer) => {
          let body = ''
          answer.setEncoding('utf8').on('data', (part: string) => (body += part))
          answer.on('end', () => resolve(body))
        },
      )
      sent.on('error', reject)
      sent.end('client_id=postroad-cli')
    })
    assert.ok(text.includes(`${world.baseUrl}/oauth/device`), text)
    assert.ok(!text.includes('evil'), text)
  },

  'consent CSRF: a page of another site cannot decide, and nobody can without the session': async () => {
    const client = await aClient(world)
    const browser = await aBrowserOf(world, owner)
    const page = await asksFor(browser, authorizeUrl(world, { client }))
    const body = JSON.stringify({
      decision: 'allow',
      scope: 'service:manage',
      workspace_id: encodeId('workspace', owner.workspaceId),
    })
    const form = await fetch(`${world.baseUrl}${page}/request`, {
      method: 'POST',
      headers: { cookie: browser.header(), 'content-type': 'text/plain' },
      body,
    })
    assert.equal(form.status, 403)
    assert.equal(((await form.json()) as { reason: string }).reason, 'csrf_header_missing')
    const cookies = [...browser.cookies].filter(([name]) => name !== 'service_session')
    const nobody = await fetch(`${world.baseUrl}${page}/request`, {
      method: 'POST',
      headers: { cookie: cookies.map(([name, value]) => `${name}=${value}`).join('; '), 'x-requested-with': 'x' },
      body,
    })
    assert.equal(nobody.status, 401)
    const shown = await browser.call(`GET ${page}`)
    assert.match(shown.headers.get('content-security-policy') ?? '', /frame-ancestors 'none'/)
  },

  'consent by proxy: the consent page of an attacker leads nowhere in the browser of a victim': async () => {
    const client = await aClient(world)
    const attacker = await aBrowserOf(world, await aMember(world, database, { ...owner, role: 'viewer' }))
    const page = await asksFor(attacker, authorizeUrl(world, { client }))
    const victim = await aBrowserOf(world, owner)
    const opened = await victim.call(`GET ${page}/request`)
    assert.deepEqual([opened.status, opened.body.reason], [404, 'consent_over'])
    const decided = await victim.call(`POST ${page}/request`, {
      decision: 'allow',
      scope: 'service:read',
      workspace_id: encodeId('workspace', owner.workspaceId),
    })
    assert.deepEqual([decided.status, decided.body.reason], [404, 'consent_over'])
    // This is also the case while a separate request of the victim is under way.
    await asksFor(victim, authorizeUrl(world, { client }))
    assert.equal((await victim.call(`POST ${page}/request`, { decision: 'deny' })).status, 404)
    // The attacker cannot continue without a decision.
    const uid = page.split('/').at(-1)
    const resumed = await attacker.call(`GET /api/oauth/authorize/${uid}`)
    assert.equal(new URL(resumed.headers.get('location') ?? '', world.baseUrl).searchParams.get('code'), null)
  },

  'consent twice: a decision cannot be changed afterwards': async () => {
    const client = await aClient(world)
    const browser = await aBrowserOf(world, owner)
    const page = await asksFor(browser, authorizeUrl(world, { client }))
    assert.equal((await browser.call(`POST ${page}/request`, { decision: 'deny' })).status, 200)
    const again = await browser.call(`POST ${page}/request`, {
      decision: 'allow',
      scope: 'service:read',
      workspace_id: encodeId('workspace', owner.workspaceId),
    })
    assert.equal(again.body.reason, 'consent_over')
  },

  'consent for a workspace of somebody else': async () => {
    const client = await aClient(world)
    const stranger = await aWorkspace(world, database, 'strangers')
    const browser = await aBrowserOf(world, owner)
    const page = await asksFor(browser, authorizeUrl(world, { client }))
    const decided = await browser.call(`POST ${page}/request`, {
      decision: 'allow',
      scope: 'service:read',
      workspace_id: encodeId('workspace', stranger.workspaceId),
    })
    assert.equal(decided.status, 404)
  },

  'consent by a key or an agent': async () => {
    const client = await aClient(world)
    const browser = await aBrowserOf(world, owner)
    const page = await asksFor(browser, authorizeUrl(world, { client }))
    const { headers } = await aConnectedAgent(world, { member: owner, scope: 'service:manage' })
    for (const authorization of [headers['authorization'] ?? '', `Bearer ${world.installed.api_key}`]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const decided = await browser.call(`POST ${page}/request`, { decision: 'deny' }, { authorization })
      assert.deepEqual([decided.status, decided.body.reason], [403, 'agent_not_permitted'])
    }
  },

  'consent without a person: prompt=none is refused': async () => {
    const client = await aClient(world)
    assert.equal(await errorAt(authorizeUrl(world, { client, members: { prompt: 'none' } })), 'consent_required')
  },

  'other grants and answers: implicit, password, client credentials and JWT bearer': async () => {
    const client = await aClient(world)
    for (const type of ['token', 'id_token', 'code id_token'])
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      assert.equal(
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        await errorOf(authorizeUrl(world, { client, members: { response_type: type } })),
        'unsupported_response_type',
        type,
      )
    for (const grant of ['password', 'client_credentials', 'urn:ietf:params:oauth:grant-type:jwt-bearer', 'implicit']) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const answer = await sendForm(world, 'token', {
        grant_type: grant,
        client_id: client,
        username: 'a',
        password: 'b',
      })
      assert.deepEqual([answer.status, answer.body.error], [400, 'unsupported_grant_type'], grant)
    }
  },

  'parameters that come twice': async () => {
    const client = await aClient(world)
    const browser = await aBrowserOf(world, owner)
    const url = `${authorizeUrl(world, { client })}&redirect_uri=${encodeURIComponent('https://evil.example/cb')}`
    const answer = await browser.call(`GET ${url}`)
    assert.equal(answer.status, 400)
    assert.equal(answer.headers.get('location'), null)
  },

  'revocation of a token of another client': async () => {
    const { tokens, headers } = await aConnectedAgent(world, { member: owner, scope: 'service:read' })
    await sendForm(world, 'revoke', { client_id: await aClient(world), token: tokens.refresh_token })
    assert.equal((await ask(world, 'GET me', { headers })).status, 200)
  },

  'a name that deceives: directions, controls and length are taken out': async () => {
    await forgetRates(world)
    const name = `Cla\u202Eude\u0000\n${'x'.repeat(200)}`
    const { body } = await register(world, { client_name: name })
    assert.match(body.client_name, /^Cla ude x{1,80}$/)
    assert.ok(body.client_name.length <= 80)
    assert.equal((await register(world, { client_name: { a: 1 } })).body.client_name, 'A program without a name')
  },

  'secrets in storage: neither codes nor tokens are in the table': async () => {
    const client = await aClient(world)
    const { code, pkce } = await aCode(client)
    const { body } = await redeem(world, { client, code, pkce })
    const rows = await database.many<{ content: string }>({
      strings: [`select kind || hash::text || content || coalesce(grant_id, '') as content from oauth_entries`],
      values: [],
    })
    const all = rows.map(({ content }) => content).join('\n')
    for (const secret of [code, body.refresh_token, body.access_token]) assert.ok(!all.includes(secret))
  },
}

async function errorOf(url: string): Promise<string | null> {
  const answer = await (await aBrowserOf(world, owner)).call(`GET ${url}`)
  const location = new URL(answer.headers.get('location') ?? '', world.baseUrl)
  return location.searchParams.get('error') ?? new URLSearchParams(location.hash.slice(1)).get('error')
}

for (const [attack, refused] of Object.entries(ATTACKS)) test(attack, refused)
