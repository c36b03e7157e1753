import assert from 'node:assert/strict'
import { createHmac, generateKeyPairSync, sign, type KeyObject } from 'node:crypto'
import { describe, test } from 'node:test'
import type { RequestToVerify } from '../src/index.ts'
import { PLATFORMS } from './platforms.ts'

/** Tokens of an OpenID Connect issuer: what passes, and every way to forge or misuse one. */

const NOW = 1_700_000_000
const ISSUER = 'https://issuer.example'
const KEYS_URL = 'https://keys.example/set.json'
const URL_OF_ENDPOINT = 'https://hooks.example.com/in/abc?x=1'
const EMAIL = 'push@project.iam.gserviceaccount.com'
const BODY = '{"message":{"data":"e30="}}'

const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 })
const otherRsa = generateKeyPairSync('rsa', { modulusLength: 2_048 })
const shortRsa = generateKeyPairSync('rsa', { modulusLength: 1_024 })
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })

const jwk = (key: KeyObject, more: object): object => ({ ...key.export({ format: 'jwk' }), ...more })
const KEYS = {
  keys: [
    jwk(rsa.publicKey, { kid: 'rsa', use: 'sig', alg: 'RS256' }),
    jwk(ec.publicKey, { kid: 'ec', use: 'sig' }),
    jwk(shortRsa.publicKey, { kid: 'short' }),
    jwk(otherRsa.publicKey, { kid: 'for encryption', use: 'enc' }),
    jwk(otherRsa.publicKey, { kid: 'for another algorithm', alg: 'PS256' }),
    { kty: 'oct', kid: 'oct', k: 'c2VjcmV0' },
  ],
}

const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const CLAIMS = {
  iss: ISSUER,
  aud: URL_OF_ENDPOINT,
  email: EMAIL,
  email_verified: true,
  sub: '1',
  iat: NOW,
  exp: NOW + 3_600,
}

type Made = { readonly head?: object; readonly claims?: object; readonly by?: (signed: string) => Buffer }
const byRsa = (key: KeyObject) => (signed: string) => sign('sha256', Buffer.from(signed), key)
const byText = (key: string | Buffer) => (signed: string) => createHmac('sha256', key).update(signed).digest()
const byEc = (signed: string): Buffer =>
  sign('sha256', Buffer.from(signed), { key: ec.privateKey, dsaEncoding: 'ieee-p1363' })
function token({ head = {}, claims = {}, by = byRsa(rsa.privateKey) }: Made = {}): string {
  const signed = `${part({ alg: 'RS256', kid: 'rsa', typ: 'JWT', ...head })}.${part({ ...CLAIMS, ...claims })}`
  return `${signed}.${by(signed).toString('base64url')}`
}

type Over = Partial<RequestToVerify> & { readonly settings?: object; readonly texts?: Record<string, object> }
for (const [platform, load] of PLATFORMS)
  describe(`tokens of an issuer, on ${platform}`, () => {
    let asked: string[] = []
    const said = async (bearer: string, over: Over = {}): Promise<string> => {
      const { verify } = await load()
      const { settings, texts = { [KEYS_URL]: KEYS }, ...request } = over
      asked = []
      const verdict = await verify({
        sender: { scheme: 'oidc_bearer', issuer: ISSUER, jwks_uri: KEYS_URL, ...settings },
        secret: EMAIL,
        headers: { authorization: `Bearer ${bearer}` },
        body: BODY,
        url: URL_OF_ENDPOINT,
        now: NOW * 1_000,
        fetchText: async (url, { isFresh }) => {
          asked.push(isFresh ? `${url} again` : url)
          return JSON.stringify(texts[url] ?? {})
        },
        ...request,
      })
      return verdict.state === 'failed' ? verdict.reason : verdict.state
    }

    test('RS256 and ES256 are verified with the key that the token names', async () => {
      assert.equal(await said(token()), 'verified')
      assert.deepEqual(asked, [KEYS_URL])
      assert.equal(await said(token({ head: { alg: 'ES256', kid: 'ec' }, by: byEc })), 'verified')
      const headers = { authorization: `bearer ${token()}` }
      assert.equal(await said('', { headers }), 'verified', 'the name of the scheme is in any case')
    })

    test('no other algorithm and no other key signs', async () => {
      const pem = rsa.publicKey.export({ type: 'spki', format: 'pem' })
      const forged: readonly Made[] = [
        { head: { alg: 'none' }, by: () => Buffer.alloc(0) },
        { head: { alg: 'none' }, by: () => Buffer.alloc(32) },
        { head: { alg: 'None', kid: 'rsa' }, by: () => Buffer.alloc(32) },
        { head: { alg: 'HS256' }, by: byText(pem) },
        { head: { alg: 'HS256', kid: 'oct' }, by: byText('secret') },
        { head: { alg: 'HS256', kid: undefined }, by: byText(EMAIL) },
        { head: { alg: 'RS384' }, by: (signed) => sign('sha384', Buffer.from(signed), rsa.privateKey) },
        { head: { alg: 'RS512' }, by: (signed) => sign('sha512', Buffer.from(signed), rsa.privateKey) },
        { head: { alg: 'ES256', kid: 'rsa' } },
        { head: { alg: 'RS256', kid: 'ec' }, by: byEc },
        { head: { alg: 'ES256', kid: 'ec' }, by: (signed) => sign('sha256', Buffer.from(signed), ec.privateKey) },
        { head: { alg: 'ES256', kid: 'ec' }, by: () => Buffer.alloc(64) },
        { by: byRsa(otherRsa.privateKey) },
        { head: { kid: 'short' }, by: byRsa(shortRsa.privateKey) },
        { head: { kid: 'for encryption' }, by: byRsa(otherRsa.privateKey) },
        { head: { kid: 'for another algorithm' }, by: byRsa(otherRsa.privateKey) },
        { head: { kid: 1 } },
        { head: { kid: undefined, jwk: jwk(otherRsa.publicKey, {}) }, by: byRsa(otherRsa.privateKey) },
        { head: { jku: 'https://evil.example/keys', kid: 'x' }, by: byRsa(otherRsa.privateKey) },
        { head: { crit: ['b64'], b64: false } },
      ]
      for (const made of forged) assert.equal(await said(token(made)), 'bad_signature', JSON.stringify(made.head))
      const [head = '', , signature = ''] = token().split('.')
      assert.equal(await said(`${head}.${part({ ...CLAIMS, sub: '2' })}.${signature}`), 'bad_signature')
      for (const text of [
        '',
        'x',
        'a.b.c',
        `${token()}.`,
        ` ${token()}`,
        `${token()},${token()}`,
        token().slice(0, -3),
      ])
        assert.equal(await said(text), 'bad_signature', text.slice(0, 20))
      assert.equal(await said('', { headers: {} }), 'missing_header')
      assert.equal(await said('', { headers: { authorization: token() } }), 'bad_signature')
    })

    test('the issuer, the audience and the identity are exactly those of the endpoint', async () => {
      const wrong: readonly object[] = [
        { iss: `${ISSUER}/` },
        { iss: undefined },
        { aud: 'https://hooks.example.com/in/abc' },
        { aud: [] },
        { aud: { [URL_OF_ENDPOINT]: 1 } },
        { aud: undefined },
        { email: `x${EMAIL}` },
        { email: EMAIL.toUpperCase() },
        { email: undefined },
        { email: [EMAIL] },
        { email_verified: false },
        { email_verified: 'true' },
        { email_verified: undefined },
      ]
      for (const claims of wrong) assert.equal(await said(token({ claims })), 'bad_signature', JSON.stringify(claims))
      assert.equal(await said(token({ claims: { aud: ['other', URL_OF_ENDPOINT] } })), 'verified')
      const port = URL_OF_ENDPOINT.replace('.com', '.com:443')
      assert.equal(await said(token({ claims: { aud: port } })), 'verified', 'the URL with its default port')
      assert.equal(await said(token({ claims: { aud: 'orders' } }), { settings: { audience: 'orders' } }), 'verified')
      assert.equal(await said(token(), { settings: { audience: 'orders' } }), 'bad_signature')
      const bySubject = { identity_claim: 'sub' }
      assert.equal(
        await said(token({ claims: { email: undefined } }), { settings: bySubject, secret: '1' }),
        'verified',
      )
      assert.equal(await said(token(), { settings: bySubject, secret: '2' }), 'bad_signature')
      const inherited = { identity_claim: 'constructor' }
      assert.equal(await said(token(), { settings: inherited, secret: 'Object' }), 'bad_signature')
      assert.equal(await said(token(), { secret: ['old@example.com', EMAIL] }), 'verified', 'during a rotation')
    })

    test('a token counts from its start to its end, with the tolerance', async () => {
      const at = async (claims: object): Promise<string> => said(token({ claims }))
      assert.equal(await at({ exp: NOW - 60 }), 'verified')
      assert.equal(await at({ exp: NOW - 61 }), 'stale_timestamp')
      assert.equal(await at({ iat: NOW + 60 }), 'verified')
      assert.equal(await at({ iat: NOW + 61 }), 'stale_timestamp')
      assert.equal(await at({ nbf: NOW + 61 }), 'stale_timestamp')
      for (const claims of [
        { exp: undefined },
        { exp: String(NOW + 60) },
        { exp: null },
        { iat: undefined },
        { nbf: 'now' },
      ])
        assert.equal(await at(claims), 'bad_signature', JSON.stringify(claims))
      const forged = token({ claims: { exp: NOW - 3_600 }, by: byRsa(otherRsa.privateKey) })
      assert.equal(await said(forged), 'bad_signature', 'the signature is checked before the time')
    })

    test('keys are fetched once more for an unknown key id, and never for a token that no key could repair', async () => {
      assert.equal(await said(token({ head: { kid: 'new' } })), 'bad_signature')
      assert.deepEqual(asked, [KEYS_URL, `${KEYS_URL} again`])
      const texts = { [KEYS_URL]: { keys: [] } }
      assert.equal(await said(token(), { texts }), 'bad_signature')
      assert.deepEqual(asked, [KEYS_URL, `${KEYS_URL} again`])
      for (const made of [
        { head: { alg: 'HS256' } },
        { claims: { iss: 'x' } },
        { claims: { aud: 'x' } },
        { claims: { exp: 'x' } },
      ]) {
        await said(token(made))
        assert.deepEqual(asked, [], JSON.stringify(made))
      }
    })

    test('a token without a key id is clear where the set has one key of its kind', async () => {
      const claims = { head: { kid: undefined } }
      assert.equal(
        await said(token(claims), { texts: { [KEYS_URL]: { keys: [KEYS.keys[0], KEYS.keys[1]] } } }),
        'verified',
      )
      const two = { keys: [KEYS.keys[0], jwk(otherRsa.publicKey, { kid: 'other' })] }
      assert.equal(await said(token(claims), { texts: { [KEYS_URL]: two } }), 'bad_signature')
    })

    test('without a URL of the keys, the discovery document of the issuer names it', async () => {
      const settings = { jwks_uri: null }
      const discovery = `${ISSUER}/.well-known/openid-configuration`
      const document = { issuer: ISSUER, jwks_uri: KEYS_URL }
      const by = (found: object): Over => ({ settings, texts: { [discovery]: found, [KEYS_URL]: KEYS } })
      assert.equal(await said(token(), by(document)), 'verified')
      assert.deepEqual(asked, [discovery, KEYS_URL])
      const wrong = [
        { ...document, issuer: 'https://evil.example' },
        { ...document, jwks_uri: 'http://keys.example/set.json' },
        { ...document, jwks_uri: 'https://user:pass@keys.example/set.json' },
        { ...document, jwks_uri: discovery },
        { ...KEYS, issuer: ISSUER },
        {},
      ]
      for (const found of wrong) {
        assert.equal(await said(token(), by(found)), 'bad_signature', JSON.stringify(found).slice(0, 80))
        assert.deepEqual(asked, [discovery])
      }
    })

    test('the explanation agrees, and names no identity', async () => {
      const { explain } = await load()
      const request = {
        sender: { scheme: 'oidc_bearer', issuer: ISSUER, jwks_uri: KEYS_URL } as const,
        secret: EMAIL,
        body: BODY,
        url: URL_OF_ENDPOINT,
        now: NOW * 1_000,
        fetchText: async () => JSON.stringify(KEYS),
      }
      const right = await explain({ ...request, headers: { authorization: `Bearer ${token()}` } })
      assert.deepEqual([right.ok, right.steps.length], [true, 6])
      const wrong = await explain({
        ...request,
        headers: { authorization: `Bearer ${token({ claims: { email_verified: false } })}` },
      })
      assert.deepEqual([wrong.ok, wrong.reason, wrong.failed_step], [false, 'bad_signature', 'digest'])
      assert.ok(!JSON.stringify([right, wrong]).includes(EMAIL))
    })
  })
