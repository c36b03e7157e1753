import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { VerificationSettings, type AdditiveScheme } from '@postroad/contract'
import * as fc from 'fast-check'
import { explainSignature, verifySignature } from '../src/sync.ts'
import type { HeldSecret, SchemeSettings } from '../src/schemes.ts'

const NOW = 1_700_000_000
const CURRENT = 'correct horse battery'
const PREVIOUS = 'staple of yesterday'
const BODY = '{"a": 1,\n "b/c": "ü"}\n'

const mac = (secret: string | Uint8Array, text: string, encoding: 'hex' | 'base64' = 'hex'): string =>
  createHmac('sha256', secret).update(text).digest(encoding)

/** How each scheme signs, written independently of the code under test. */
const SENDERS: Readonly<
  Record<
    Exclude<SchemeSettings['scheme'], AdditiveScheme>,
    (secret: string, body: string, now: number) => Record<string, string>
  >
> = {
  payments_provider: (secret, body, now) => ({ 'stripe-signature': `t=${now},v1=${mac(secret, `${now}.${body}`)}` }),
  code_host: (secret, body) => ({ 'x-hub-signature-256': `sha256=${mac(secret, body)}` }),
  commerce_platform: (secret, body) => ({ 'x-shopify-hmac-sha256': mac(secret, body, 'base64') }),
  chat_platform: (secret, body, now) => ({
    'x-slack-request-timestamp': String(now),
    'x-slack-signature': `v0=${mac(secret, `v0:${now}:${body}`)}`,
  }),
  standard_webhooks: (secret, body, now) => ({
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(now),
    'webhook-signature': `v1,${mac(secret, `msg_1.${now}.${body}`, 'base64')}`,
  }),
  hmac: (secret, body) => ({ 'x-signature': mac(secret, body) }),
}

type Scheme = keyof typeof SENDERS
const SCHEMES = [
  'payments_provider',
  'code_host',
  'commerce_platform',
  'chat_platform',
  'standard_webhooks',
  'hmac',
] as const
const settingsOf = (scheme: Scheme, more: object = {}) =>
  VerificationSettings.parse({ scheme, ...more }) as SchemeSettings
const current: HeldSecret = { name: 'current', value: CURRENT }

type Asked = {
  headers?: Record<string, string>
  body?: string
  secrets?: readonly HeldSecret[]
  settings?: object
  now?: number
}
const explained = (scheme: Scheme, { headers, body = BODY, secrets = [current], settings, now = NOW }: Asked = {}) =>
  explainSignature({
    settings: settingsOf(scheme, settings),
    secrets,
    headers: headers ?? SENDERS[scheme](CURRENT, BODY, NOW),
    body: Buffer.from(body),
    nowSeconds: now,
  })

test('the explanation agrees with the check itself, whatever the sender sends', () => {
  const cases = fc.record({
    scheme: fc.constantFrom(...SCHEMES),
    change: fc.constantFrom('none', 'drop', 'empty', 'cut', 'prefix', 'upper', 'other'),
    names: fc.subarray(['current', 'previous'] as const),
    byPrevious: fc.boolean(),
    away: fc.integer({ min: -400, max: 400 }),
  })
  fc.assert(
    fc.property(cases, ({ scheme, change, names, byPrevious, away }) => {
      const signed = SENDERS[scheme](byPrevious ? PREVIOUS : CURRENT, BODY, NOW)
      const headers = Object.fromEntries(
        Object.entries(signed).flatMap(([name, value], at) => {
          if (at > 0 || change === 'none') return [[name, value]]
          const edited = {
            drop: undefined,
            empty: '',
            cut: value.slice(0, -1),
            prefix: `x${value}`,
            upper: value.toUpperCase(),
            other: value.replace(/.$/, '0'),
          }[change]
          return edited === undefined ? [] : [[name, edited]]
        }),
      )
      const secrets: HeldSecret[] = names.map((name) => ({ name, value: name === 'current' ? CURRENT : PREVIOUS }))
      const request = { settings: settingsOf(scheme), headers, body: Buffer.from(BODY), nowSeconds: NOW + away }
      const said = explainSignature({ ...request, secrets })
      const failure = verifySignature({ ...request, secrets: secrets.map(({ value }) => value) })
      assert.deepEqual(
        [said.ok, said.reason, said.failed_step],
        [failure === undefined, failure?.reason ?? null, failure?.step ?? null],
      )
      const at = said.steps.findIndex((step) => step.ok !== true)
      assert.equal(said.ok, at < 0)
      if (at >= 0) assert.deepEqual([said.steps[at]?.ok, said.steps[at]?.step], [false, said.failed_step])
      assert.ok(said.steps.slice(at + 1).every((step) => at < 0 || step.ok === null))
    }),
    { numRuns: 300 },
  )
})

/** The digests that the holder of a secret would send for a body. */
const digestsOf = (scheme: Scheme, secret: string, body: string): string[] =>
  Object.values(SENDERS[scheme](secret, body, NOW)).flatMap((value) =>
    value.split(/[=,]/).filter((part) => part.length > 12),
  )

test('no sentence contains a secret or an expected digest', () => {
  const secrets: HeldSecret[] = [current, { name: 'previous', value: PREVIOUS }]
  for (const scheme of SCHEMES) {
    const hidden = secrets.flatMap(({ value }) => [
      value,
      ...digestsOf(scheme, value, BODY),
      ...digestsOf(scheme, value, BODY.trimEnd()),
    ])
    for (const headers of [
      SENDERS[scheme]('wrong', BODY, NOW),
      {},
      SENDERS[scheme](CURRENT, BODY.trimEnd(), NOW),
      SENDERS[scheme](PREVIOUS, BODY, NOW),
    ]) {
      const said = JSON.stringify(explained(scheme, { headers, secrets }))
      for (const text of hidden) assert.ok(!said.includes(text), `${scheme}: ${said}`)
    }
  }
})

test('each step that passed has its sentence', () => {
  assert.deepEqual(explained('payments_provider', { now: NOW + 12 }).steps, [
    { step: 'secret', ok: true, text: 'This endpoint has a secret.' },
    { step: 'header', ok: true, text: 'The header Stripe-Signature is there.' },
    { step: 'format', ok: true, text: 'It has the form t=<unix>,v1=<hex>.' },
    { step: 'timestamp', ok: true, text: 'The timestamp in Stripe-Signature is 1700000000, in Unix seconds.' },
    { step: 'digest', ok: true, text: 'The signature is the one that the current secret makes for this body.' },
    { step: 'tolerance', ok: true, text: 'It is 12 s old, and 300 s is allowed.' },
  ])
  assert.deepEqual(
    explained('code_host').steps.map(({ step }) => step),
    ['secret', 'header', 'format', 'digest'],
  )
})

test('a body that was changed on the way is recognized, whichever scheme signed it', () => {
  const variants = {
    'the white space at its end removed': '{"a": 1}',
    'a line break at its end': '{"a": 1}  \n\n',
    'its JSON compacted': '{"a":1,"b":[1.50,"x"]}',
  }
  const pasted = {
    'the white space at its end removed': '{"a": 1}\n',
    'a line break at its end': '{"a": 1}  \n',
    'its JSON compacted': '{ "a": 1, "b": [1.50, "x"] }',
  }
  for (const scheme of SCHEMES) {
    for (const [what, original] of Object.entries(variants)) {
      const said = explained(scheme, {
        headers: SENDERS[scheme](CURRENT, original, NOW),
        body: pasted[what as keyof typeof pasted],
      })
      assert.deepEqual(
        [said.failed_step, said.hints],
        ['digest', [`The signature is valid for the body with ${what}. The body was changed in transit.`]],
        scheme,
      )
    }
  }
})

test('JSON that was rewritten is recognized in the ways in which libraries write it', () => {
  const value = { url: 'https://x/y', name: 'Zoë "q" \\', list: [1, { a: null }], n: ': , ' }
  const python = '{"url": "https://x/y", "name": "Zo\\u00eb \\"q\\" \\\\", "list": [1, {"a": null}], "n": ": , "}'
  const php = JSON.stringify(value).replaceAll('/', '\\/')
  for (const original of [
    python,
    php,
    JSON.stringify(value, null, 2),
    JSON.stringify(value, null, 4),
    `${JSON.stringify(value)}\n`,
    '',
  ]) {
    const pasted = original === `${JSON.stringify(value)}\n` ? JSON.stringify(value, null, 1) : JSON.stringify(value)
    const { hints } = explained('code_host', { headers: SENDERS.code_host(CURRENT, original, NOW), body: pasted })
    assert.match(hints[0] ?? '', /The body was changed in transit\.$/, original)
  }
})

const hintsOfHeader = (value: string, settings: object = {}) =>
  explained('hmac', { headers: { 'x-signature': value }, settings }).hints

test('a correct digest in another encoding is recognized', () => {
  assert.deepEqual(hintsOfHeader(mac(CURRENT, BODY, 'base64')), [
    'The digest is correct but encoded as base64. This endpoint expects lower-case hex.',
  ])
  assert.deepEqual(hintsOfHeader(mac(CURRENT, BODY), { encoding: 'base64' }), [
    'The digest is correct but encoded as lower-case hex. This endpoint expects base64.',
  ])
  assert.match(hintsOfHeader(mac(CURRENT, BODY), { prefix: 'v1=' })[0] ?? '', /does not have the form v1=<hex>/)
  assert.match(hintsOfHeader(`sha256=${mac(CURRENT, BODY)}`)[0] ?? '', /does not have the form <hex>/)
  assert.deepEqual(hintsOfHeader(createHmac('sha1', CURRENT).update(BODY).digest('hex')), [
    'The digest is made with sha1; this endpoint is set to sha256.',
  ])
  assert.deepEqual(hintsOfHeader(mac(CURRENT, BODY).toUpperCase(), { encoding: 'base64' }), [
    'The digest is correct but encoded as capital hex. This endpoint expects base64.',
  ])
})

test('another use of the secret, or of the time, is recognized', () => {
  const encoded = Buffer.from('0123456789abcdef').toString('base64')
  const secrets: HeldSecret[] = [{ name: 'current', value: encoded }]
  const byBytes = explained('hmac', { secrets, headers: { 'x-signature': mac(Buffer.from(encoded, 'base64'), BODY) } })
  assert.match(byBytes.hints[0] ?? '', /the bytes that the secret encodes in base64/)
  const byText = explained('standard_webhooks', {
    secrets: [{ name: 'current', value: `whsec_${encoded}` }],
    headers: SENDERS.standard_webhooks(`whsec_${encoded}`, BODY, NOW),
  })
  assert.match(byText.hints[0] ?? '', /signs with the text of the secret/)
  const bare = explained('payments_provider', { headers: { 'stripe-signature': `t=${NOW},v1=${mac(CURRENT, BODY)}` } })
  assert.match(bare.hints[0] ?? '', /covers the body alone/)
  const milliseconds = explained('payments_provider', {
    headers: SENDERS.payments_provider(CURRENT, BODY, NOW * 1_000),
  })
  assert.deepEqual(
    [milliseconds.failed_step, milliseconds.hints[0]],
    ['tolerance', 'The timestamp looks like milliseconds; this scheme uses seconds.'],
  )
})

test('no part of a secret is ever used as a key, so that nobody can guess it bit by bit', () => {
  const secrets: HeldSecret[] = [{ name: 'current', value: 'abxyz and more' }]
  const { hints } = explained('hmac', { secrets, headers: { 'x-signature': mac(Buffer.from('ab', 'hex'), BODY) } })
  assert.match(hints[0] ?? '', /another secret/)
})

test('the previous secret is named while it is valid, and recognized when it has expired', () => {
  const headers = SENDERS.code_host(PREVIOUS, BODY, NOW)
  const alive = explained('code_host', { headers, secrets: [current, { name: 'previous', value: PREVIOUS }] })
  assert.deepEqual([alive.ok, alive.matched_secret], [true, 'previous'])
  const ended = explained('code_host', {
    headers,
    secrets: [current, { name: 'previous', value: PREVIOUS, ended: true }],
  })
  assert.deepEqual(
    [ended.ok, ended.failed_step, ended.hints],
    [false, 'digest', ['It was made with the previous secret, which no longer verifies.']],
  )
})

test('a long body is explained quickly, whatever it contains', () => {
  for (const body of [
    `"${'\\"'.repeat(250_000)}"`,
    '['.repeat(500_000),
    `{"a":"${'x'.repeat(900_000)}"}`,
    '"'.repeat(500_000),
    ' '.repeat(1_000_000),
  ]) {
    assert.equal(explained('code_host', { headers: SENDERS.code_host('wrong', 'x', NOW), body }).failed_step, 'digest')
  }
})
