import assert from 'node:assert/strict'
import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import type { SourcePreset } from '@postroad/contract'
import { aWebhook, post, recordOf, submissionOf } from '../stage/fixtures.ts'
import type { Answer, World } from '../stage/harness.ts'
import { aWorldOfProviders, type Providers } from '../stage/provider-stage.ts'

/** Tokens of an OpenID Connect issuer, whose keys Postroad fetches. `packages/verify` tests every forged token. */
let world: World
let providers: Providers

before(async () => {
  ;({ world, providers } = await aWorldOfProviders())
})
after(async () => {
  await world.stop()
  await providers.stop()
})

const EMAIL = 'push@project.iam.gserviceaccount.com'
const BODY = JSON.stringify({
  message: { data: Buffer.from('{"order":1001,"total":1.50}').toString('base64'), messageId: '1', attributes: {} },
  subscription: 'projects/p/subscriptions/orders',
})

type Pair = { readonly publicKey: KeyObject; readonly privateKey: KeyObject }
const aKey = (): Pair => generateKeyPairSync('rsa', { modulusLength: 2_048 })
const own = aKey()
const other = aKey()
const jwk = ({ publicKey }: Pair, kid: string): object => ({ ...publicKey.export({ format: 'jwk' }), kid, use: 'sig' })

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
type Made = { readonly kid?: string; readonly by?: Pair; readonly claims?: object }
function token({ kid = 'own', by = own, claims = {} }: Made): string {
  const now = Math.floor(world.clock.wall() / 1_000)
  const times = { iat: now, exp: now + 3_600 }
  const signed = `${part({ alg: 'RS256', typ: 'JWT', kid })}.${part({ email: EMAIL, email_verified: true, ...times, ...claims })}`
  return `${signed}.${sign('sha256', Buffer.from(signed), by.privateKey).toString('base64url')}`
}

let issuers = 0
type Issuer = { readonly issuer: string; readonly keysUrl: string }
/** An issuer with a separate path, so that no test sees the requests of another. */
function anIssuer(keys: readonly object[], headers: Readonly<Record<string, string>> = {}): Issuer {
  issuers += 1
  const base = `https://issuer.example:${providers.port}/${issuers}`
  const [issuer, keysUrl] = [base, `${base}/keys`]
  publish(`${base}/.well-known/openid-configuration`, { issuer, jwks_uri: keysUrl })
  publish(keysUrl, { keys }, headers)
  return { issuer, keysUrl }
}
const publish = (url: string, body: object, headers: Readonly<Record<string, string>> = {}): void =>
  void providers.answers.set(new URL(url).pathname, { status: 200, body: JSON.stringify(body), headers })
const askedOf = (url: string): number => providers.asked.get(new URL(url).pathname) ?? 0

const anEndpoint = (verification: object): Promise<Answer['body']> =>
  aWebhook(world, { verification: { scheme: 'oidc_bearer', secret: EMAIL, ...verification } })
const send = (url: string, bearer: string): Promise<Answer> =>
  post(url, BODY, { headers: { authorization: `Bearer ${bearer}` } })

test('the preset of Pub/Sub verifies a push, decodes its data with base64, and masks the token', async () => {
  const { body } = await world.admin('GET', 'source-presets')
  const presets: readonly SourcePreset[] = body.source_presets
  const { settings } = presets.find(({ id }) => id === 'google-pubsub') ?? assert.fail()
  const { keysUrl } = anIssuer([jwk(own, 'own')])
  const webhook = await aWebhook(world, {
    ...settings,
    verification: { ...settings.verification, jwks_uri: keysUrl, secret: EMAIL },
    mappings: [{ target: 'order', path: 'message.data', transform: 'base64' }],
  })
  const claims = { iss: 'https://accounts.google.com', aud: webhook.public_url }
  const sent = await send(webhook.public_url, token({ claims }))
  assert.equal(sent.status, 201, JSON.stringify(sent.body))
  assert.equal((await recordOf(world, sent.body.records[0].id)).data_text, '{"order":{"order":1001,"total":1.50}}')
  assert.ok(!(await submissionOf(world, sent.body.id)).headers.authorization.includes('.'))
  assert.equal((await send(webhook.public_url, token({ claims }))).status, 200, 'a repeat, with another token')
  const elsewhere = await send(webhook.public_url, token({ claims: { ...claims, aud: `${webhook.public_url}x` } }))
  assert.deepEqual(
    [elsewhere.status, elsewhere.body.reason, elsewhere.body.scheme],
    [401, 'bad_signature', 'oidc_bearer'],
  )
})

describe('the keys of an issuer', () => {
  test('come from its discovery document, and one fetch serves all requests', async () => {
    const { issuer, keysUrl } = anIssuer([jwk(own, 'own')])
    const { public_url: url } = await anEndpoint({ issuer, audience: 'orders' })
    const claims = { iss: issuer, aud: 'orders' }
    const sent = await Promise.all([1, 2, 3].map(() => send(url, token({ claims }))))
    assert.deepEqual(
      sent.map(({ status }) => status),
      [201, 201, 201],
    )
    assert.deepEqual([askedOf(`${issuer}/.well-known/openid-configuration`), askedOf(keysUrl)], [1, 1])
  })

  test('get one fetch a minute for unknown key ids, so a new key works and a flood fetches nothing', async () => {
    const { issuer, keysUrl } = anIssuer([jwk(own, 'own')])
    const { public_url: url } = await anEndpoint({ issuer, audience: 'orders', jwks_uri: keysUrl })
    const claims = { iss: issuer, aud: 'orders' }
    assert.equal((await send(url, token({ claims }))).status, 201)
    for (const kid of ['a', 'b', 'c']) assert.equal((await send(url, token({ claims, kid, by: other }))).status, 401)
    assert.equal(askedOf(keysUrl), 1, 'within a minute of the fetch')
    publish(keysUrl, { keys: [jwk(other, 'new')] })
    world.clock.advance(60_000)
    assert.equal((await send(url, token({ claims, kid: 'new', by: other }))).status, 201)
    for (const kid of ['a', 'b', 'c']) assert.equal((await send(url, token({ claims, kid, by: other }))).status, 401)
    assert.equal(askedOf(keysUrl), 2)
    assert.equal((await send(url, token({ claims }))).status, 401, 'the issuer withdrew the first key')
  })

  test('stay cached for as long as the issuer says, from one minute to a day, and an hour by default', async () => {
    const cases = [
      ['public, max-age=600', 600],
      ['max-age=1', 60],
      ['no-store', 60],
      ['max-age=999999999', 86_400],
      [undefined, 3_600],
    ] as const
    for (const [control, seconds] of cases) {
      const { issuer, keysUrl } = anIssuer([jwk(own, 'own')], control === undefined ? {} : { 'cache-control': control })
      // oxlint-disable-next-line no-await-in-loop -- they share the clock
      const { public_url: url } = await anEndpoint({ issuer, audience: 'orders', jwks_uri: keysUrl })
      const claims = { iss: issuer, aud: 'orders' }
      const statuses: number[] = []
      for (const wait of [0, seconds * 1_000 - 1_000, 1_000]) {
        world.clock.advance(wait)
        // oxlint-disable-next-line no-await-in-loop -- as above
        await send(url, token({ claims }))
        statuses.push(askedOf(keysUrl))
      }
      assert.deepEqual(statuses, [1, 1, 2], control ?? 'no header')
    }
  })

  test('that cannot be fetched fail closed: 503 while the issuer is away, and 401 without keys', async () => {
    const { issuer, keysUrl } = anIssuer([jwk(own, 'own')])
    const webhook = await anEndpoint({ issuer, audience: 'orders', jwks_uri: keysUrl })
    const claims = { iss: issuer, aud: 'orders' }
    providers.answers.set(new URL(keysUrl).pathname, { status: 500 })
    const away = await send(webhook.public_url, token({ claims }))
    assert.deepEqual([away.status, away.body.reason], [503, 'provider_unavailable'])
    world.clock.advance(10_000)
    providers.answers.set(new URL(keysUrl).pathname, { status: 200, body: '<html>' })
    const none = await send(webhook.public_url, token({ claims }))
    assert.deepEqual([none.status, none.body.reason], [401, 'bad_signature'])
    const { body } = await world.admin('GET', `submissions?webhook_id=${webhook.id}`)
    assert.equal(body.submissions.length, 0)
  })

  test('in the network of the server are out of reach', async () => {
    const claims = { iss: 'https://issuer.example', aud: 'orders' }
    for (const host of ['169.254.169.254', '10.0.0.1', '[::ffff:10.0.0.1]']) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const { public_url: url } = await anEndpoint({
        issuer: claims.iss,
        audience: 'orders',
        jwks_uri: `https://${host}/keys`,
      })
      // oxlint-disable-next-line no-await-in-loop -- as above
      const { status, body } = await send(url, token({ claims }))
      assert.deepEqual([status, body.reason], [503, 'provider_unavailable'], host)
    }
  })
})

test('the tester explains a token with the keys of its issuer', async () => {
  const { issuer } = anIssuer([jwk(own, 'own')])
  const { id } = await anEndpoint({ issuer, audience: 'orders' })
  const explained = async (made: Made): Promise<Answer['body']> => {
    const headers = { Authorization: `Bearer ${token(made)}` }
    return (await world.admin('POST', `webhooks/${id}/verify-sample`, { headers, body: BODY })).body
  }
  const right = await explained({ claims: { iss: issuer, aud: 'orders' } })
  assert.deepEqual([right.ok, right.matched_secret], [true, 'current'])
  const forged = await explained({ claims: { iss: issuer, aud: 'orders' }, by: other })
  assert.deepEqual([forged.ok, forged.failed_step], [false, 'digest'])
  assert.equal((await world.admin('POST', `webhooks/${id}/sign-sample`, { body: BODY })).status, 409)
})

const refusedWith = async (verification: object): Promise<readonly unknown[]> => {
  const { status, body } = await world.admin('POST', 'webhooks', {
    name: 'Tokens',
    verification: { scheme: 'oidc_bearer', secret: EMAIL, ...verification },
  })
  return [status, body.error]
}

test('settings that cannot work are refused with the reason', async () => {
  assert.deepEqual((await refusedWith({ issuer: 'accounts.google.com' }))[0], 400)
  assert.match(String((await refusedWith({ issuer: 'accounts.google.com' }))[1]), /Set "jwks_uri"/)
  assert.match(String((await refusedWith({}))[1]), /The issuer is the claim iss/)
  assert.match(
    String((await refusedWith({ issuer: 'https://a.example', jwks_uri: 'http://a.example' }))[1]),
    /begins with https/,
  )
  assert.match(String((await refusedWith({ issuer: 'https://a.example', secret: 'no address' }))[1]), /the claim email/)
  assert.equal((await refusedWith({ issuer: 'https://a.example', identity_claim: 'sub', secret: '1234' }))[0], 201)
})
