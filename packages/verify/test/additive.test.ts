import assert from 'node:assert/strict'
import { createHash, createHmac, generateKeyPairSync, sign } from 'node:crypto'
import { test } from 'node:test'
import { LIMITS, VerificationSettings } from '@postroad/contract'
import { explainSignature, verifySignature, validateSecretForm } from '../src/sync.ts'
import type { SchemeSettings } from '../src/schemes.ts'

/** The refusals of the schemes beyond the seven. `signature.test.ts` has the rules that all HMACs share. */

const NOW = 1_700_000_000
const BODY = Buffer.from('{"name":"Zoë","total":1.50}')
const SECRET = 'correct horse battery'

const settingsOf = (settings: object): SchemeSettings => VerificationSettings.parse(settings) as SchemeSettings

type Sent = {
  readonly headers: Record<string, string>
  readonly body?: Uint8Array
  readonly secret?: string
  readonly now?: number
  readonly url?: string
}
function verdict(settings: object, { headers, body = BODY, secret = SECRET, now = NOW, url }: Sent): string {
  const request = { settings: settingsOf(settings), headers, body, nowSeconds: now, url }
  const failure = verifySignature({ ...request, secrets: [secret] })
  const said = explainSignature({ ...request, secrets: [{ name: 'current', value: secret }] })
  assert.deepEqual(
    [said.ok, said.reason, said.failed_step],
    [failure === undefined, failure?.reason ?? null, failure?.step ?? null],
  )
  assert.ok(secret.length < 9 || !JSON.stringify(said).includes(secret), 'no sentence holds the secret')
  return failure?.reason ?? 'ok'
}

const hmac = (key: string | Uint8Array, text: string): string => createHmac('sha256', key).update(text).digest('hex')

test('static_token: the token behind the prefix is the secret, and nothing shorter, longer or in another case', () => {
  const settings = { scheme: 'static_token', header: 'X-Token', prefix: 'Bearer ' }
  const sent = (value: string): string => verdict(settings, { headers: { 'x-token': value } })
  assert.equal(sent(`Bearer ${SECRET}`), 'ok')
  for (const value of [SECRET, `bearer ${SECRET}`, `Bearer ${SECRET} `, `Bearer ${SECRET.slice(1)}`, 'Bearer ', ''])
    assert.equal(sent(value), 'bad_signature', value)
  assert.equal(verdict(settings, { headers: {} }), 'missing_header')
  assert.equal(verdict({ scheme: 'static_token', header: 'Constructor' }, { headers: {} }), 'missing_header')
})

test('basic_auth: the user name and the password, as RFC 7617 writes them', () => {
  const secret = 'hooks:a password: with a colon'
  const sent = (value: string): string =>
    verdict({ scheme: 'basic_auth' }, { headers: { authorization: value }, secret })
  const encoded = Buffer.from(secret).toString('base64')
  assert.deepEqual([sent(`Basic ${encoded}`), sent(`basic ${encoded}`)], ['ok', 'ok'])
  for (const value of [
    encoded,
    `Bearer ${encoded}`,
    `Basic ${Buffer.from('hooks:x').toString('base64')}`,
    'Basic ',
    'Basic !',
  ])
    assert.equal(sent(value), 'bad_signature', value)
})

const TWILIO = {
  scheme: 'custom_hmac',
  header: 'X-Twilio-Signature',
  algorithm: 'sha1',
  encoding: 'base64',
  signed: '{url}{form}',
}
const twilio = (text: string): Record<string, string> => ({
  'x-twilio-signature': createHmac('sha1', SECRET).update(text).digest('base64'),
})

test('custom_hmac: a signature over the URL is right with and without the port, as the library of the sender accepts it', () => {
  const body = Buffer.from('Body=hi&From=%2B1')
  const form = 'BodyhiFrom+1'
  const path = "/main/default/slug?a=1&b=it's"
  const sent = (url: string, signed: string): string =>
    verdict(TWILIO, { headers: twilio(`${signed}${form}`), body, url })
  for (const [called, signed] of [
    ['https://hooks.example.com', 'https://hooks.example.com'],
    ['https://hooks.example.com', 'https://hooks.example.com:443'],
    ['https://hooks.example.com:8443', 'https://hooks.example.com:8443'],
    ['https://hooks.example.com:8443', 'https://hooks.example.com'],
    ['http://[::1]', 'http://[::1]:80'],
  ] as const) {
    assert.equal(sent(called + path, signed + path), 'ok', signed)
    assert.equal(sent(called + path, signed + path.replace("'", '%27')), 'ok', `${signed}, escaped`)
  }
  for (const other of ['https://hooks.example.com:8080', 'http://hooks.example.com', 'https://hooks.example.org'])
    assert.equal(sent(`https://hooks.example.com${path}`, other + path), 'bad_signature', other)
  assert.equal(
    sent(`https://hooks.example.com${path}`, 'https://hooks.example.com/main/default/slug?a=1'),
    'bad_signature',
  )
})

test('custom_hmac: the signed URL proves a JSON body by its bodySHA256, and no other body', () => {
  const body = Buffer.from('{"a":1}')
  const url = `https://hooks.example.com/x?bodySHA256=${createHash('sha256').update(body).digest('hex')}`
  assert.equal(verdict(TWILIO, { headers: twilio(url), body, url }), 'ok')
  assert.equal(verdict(TWILIO, { headers: twilio(url), body: Buffer.from('{"a":2}'), url }), 'bad_signature')
})

const ED25519 = generateKeyPairSync('ed25519')
const P256 = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const publicDer = (key: typeof ED25519.publicKey): Buffer => key.export({ format: 'der', type: 'spki' })

test('public_key: a key is read in each form that providers show it in, and a signature by another key is refused', () => {
  const settings = {
    scheme: 'public_key',
    encoding: 'hex',
    signed: '{timestamp}{body}',
    timestamp_header: 'X-Time',
  }
  const signed = (key: typeof ED25519.privateKey): Record<string, string> => ({
    'x-time': String(NOW),
    'x-signature': sign(null, Buffer.concat([Buffer.from(String(NOW)), BODY]), key).toString('hex'),
  })
  const der = publicDer(ED25519.publicKey)
  const forms = [
    String(ED25519.publicKey.export({ format: 'pem', type: 'spki' })),
    der.toString('base64'),
    der.subarray(-32).toString('base64'),
    der.subarray(-32).toString('hex'),
  ]
  for (const secret of forms) {
    assert.equal(verdict(settings, { headers: signed(ED25519.privateKey), secret }), 'ok')
    assert.equal(
      verdict(settings, { headers: signed(ED25519.privateKey), secret, body: Buffer.from('{}') }),
      'bad_signature',
    )
    assert.equal(
      verdict(settings, { headers: signed(generateKeyPairSync('ed25519').privateKey), secret }),
      'bad_signature',
    )
    assert.equal(verdict(settings, { headers: signed(ED25519.privateKey), secret, now: NOW + 301 }), 'stale_timestamp')
  }
  for (const secret of ['no key', publicDer(P256.publicKey).toString('base64')])
    assert.equal(verdict(settings, { headers: signed(ED25519.privateKey), secret }), 'bad_signature')
})

test('public_key: of many signatures in one header only the first four cost a check', () => {
  const settings = { scheme: 'public_key', algorithm: 'ecdsa_sha256', encoding: 'base64' }
  const secret = publicDer(P256.publicKey).toString('base64')
  const good = sign('sha256', BODY, P256.privateKey).toString('base64')
  const wrong = Array.from({ length: 8 }, (_, at) =>
    sign('sha256', Buffer.from([at]), P256.privateKey).toString('base64'),
  )
  const sent = (value: readonly string[]): string =>
    verdict(settings, { headers: { 'x-signature': value.join() }, secret })
  assert.equal(sent([...wrong.slice(0, 3), good]), 'ok')
  assert.equal(sent([...wrong, good]), 'bad_signature')
})

const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
const bodyHash = createHash('sha256').update(BODY).digest('hex')
function token(
  claims: object,
  { alg = 'HS256', key = SECRET, said = alg }: { alg?: string; key?: string; said?: string } = {},
): string {
  const signed = `${part({ alg: said, typ: 'JWT' })}.${part(claims)}`
  return `${signed}.${createHmac(`sha${alg.slice(2)}`, key)
    .update(signed)
    .digest('base64url')}`
}

test('jwt: a token passes when the secret signed it by the set algorithm, it is current, and it has the hash of the body', () => {
  const settings = { scheme: 'jwt' }
  const sent = (value: string, more: Partial<Sent> = {}): string =>
    verdict(settings, { headers: { authorization: `Bearer ${value}` }, ...more })
  const claims = { iat: NOW, sha256: bodyHash }
  assert.equal(sent(token(claims)), 'ok')
  assert.equal(sent(token({ exp: NOW + 60, sha256: bodyHash })), 'ok')
  assert.equal(sent(token(claims), { now: NOW + 301 }), 'stale_timestamp')
  assert.equal(sent(token(claims), { body: Buffer.from('{}') }), 'bad_signature')
  const [head = '', , signature = ''] = token(claims).split('.')
  for (const value of [
    token(claims, { key: 'another secret' }),
    token(claims, { alg: 'HS512' }),
    token(claims, { said: 'none' }),
    token({ iat: NOW }),
    token({ iat: NOW, sha256: 5 }),
    token({ sha256: bodyHash }),
    token({ iat: 'now', sha256: bodyHash }),
    `${head}.${part({ ...claims, iat: NOW + 1 })}.${signature}`,
    `${part({ alg: 'none' })}.${part(claims)}.`,
    `${part({ alg: 'none' })}.${part(claims)}.${signature}`,
    'a.b.c',
    `${part(null)}.${part(null)}.${signature}`,
    '',
  ])
    assert.equal(sent(value), 'bad_signature', value)
})

test('custom_hmac: an id that contains the text behind it could move the border, and is malformed', () => {
  const settings = {
    scheme: 'custom_hmac',
    signed: '{id}.{timestamp}.{body}',
    id_header: 'X-Id',
    timestamp_header: 'X-Time',
  }
  const sent = (id: string): string =>
    verdict(settings, {
      headers: { 'x-id': id, 'x-time': String(NOW), 'x-signature': hmac(SECRET, `${id}.${NOW}.${BODY.toString()}`) },
    })
  assert.deepEqual([sent('evt_1'), sent('evt.1')], ['ok', 'bad_signature'])
})

test('custom_hmac: a second timestamp, an unsigned one and a time in another unit are refused', () => {
  const settings = { scheme: 'custom_hmac', signed: '{timestamp}.{body}', signature_item: 'v1', timestamp_item: 't' }
  const digest = hmac(SECRET, `${NOW}.${BODY.toString()}`)
  const sent = (value: string): string => verdict(settings, { headers: { 'x-signature': value } })
  assert.equal(sent(`t=${NOW},v1=${digest}`), 'ok')
  assert.equal(sent(`t=${NOW}; v1=${'0'.repeat(64)}; v1=${digest}`), 'ok')
  for (const value of [`t=${NOW},t=${NOW},v1=${digest}`, `v1=${digest}`, `t=now,v1=${digest}`, `t=${NOW}`, digest, ''])
    assert.equal(sent(value), 'bad_signature', value)
  const inMs = { ...settings, timestamp_format: 'milliseconds' }
  assert.equal(verdict(inMs, { headers: { 'x-signature': `t=${NOW},v1=${digest}` } }), 'stale_timestamp')
})

test('custom_hmac: a key in hex or base64 is decoded as a whole or not at all, so that no part of it can be guessed', () => {
  const settings = { scheme: 'custom_hmac', key_encoding: 'hex' }
  const sent = (key: string | Uint8Array, secret: string): string =>
    verdict(settings, { headers: { 'x-signature': hmac(key, BODY.toString()) }, secret })
  assert.equal(sent(Buffer.from('abcdef', 'hex'), 'abcdef'), 'ok')
  assert.equal(sent(Buffer.from('ab', 'hex'), 'abxyz and more'), 'bad_signature')
  assert.equal(sent(Buffer.alloc(0), 'xyz is no hex'), 'bad_signature')
})

test('custom_hmac: the fields of a form are signed in the order of their names, and a form with too many fields is refused', () => {
  const settings = { scheme: 'custom_hmac', signed: '{url}{form}' }
  const url = 'https://hooks.example/a/b/c?x=1'
  const sent = (body: string, signed: string): string =>
    verdict(settings, { headers: { 'x-signature': hmac(SECRET, url + signed) }, body: Buffer.from(body), url })
  assert.equal(sent('b=2&a=1+%26&b=1&B=0', 'B0a1 &b1b2'), 'ok')
  assert.equal(sent('b=2&a=1', 'b2a1'), 'bad_signature')
  const many = Array.from({ length: LIMITS.formKeysMax + 1 }, (_, at) => `k${at}=`)
  assert.equal(
    sent(
      many.join('&'),
      many
        .map((field) => field.slice(0, -1))
        .toSorted()
        .join(''),
    ),
    'bad_signature',
  )
})

const why = (settings: object, secret: string): string | undefined => validateSecretForm(settingsOf(settings), secret)

test('a secret in a form that no request could match is refused with a sentence', () => {
  assert.equal(why({ scheme: 'basic_auth' }, 'user:pass'), undefined)
  assert.match(why({ scheme: 'basic_auth' }, 'no colon') ?? '', /a user name, a colon and a password/)
  assert.match(why({ scheme: 'public_key' }, 'no key') ?? '', /an ed25519 public key/)
  const ecdsa = { scheme: 'public_key', algorithm: 'ecdsa_sha256' }
  assert.equal(why(ecdsa, publicDer(P256.publicKey).toString('base64')), undefined)
  assert.match(why(ecdsa, publicDer(ED25519.publicKey).toString('base64')) ?? '', /on the curve P-256/)
  assert.match(why({ scheme: 'custom_hmac', key_encoding: 'hex' }, 'abc') ?? '', /set as hex, and this secret is not/)
  assert.equal(why({ scheme: 'custom_hmac' }, 'abc'), undefined)
})
