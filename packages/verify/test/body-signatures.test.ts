import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { describe, test } from 'node:test'
import { PLATFORMS } from './platforms.ts'

/** Signatures that are in the body, or cover members of it. */

const NOW = 1_700_000_000
const SECRET = 'key-of-the-account'
const TOKEN = '50c8b1f6d7a94d0a9d0c5b1ce5b0e8a1ffeeddccbbaa998877'
const mac = (text: string): string => createHmac('sha256', SECRET).update(text).digest('hex')

const JSON_TYPE = { 'content-type': 'application/json' }
const FORM_TYPE = { 'content-type': 'application/x-www-form-urlencoded' }

/** Mailgun signs the timestamp and a token. */
const inJson = {
  scheme: 'custom_hmac',
  signed: '{timestamp}{body.signature.token}',
  signature_path: 'signature.signature',
  timestamp_path: 'signature.timestamp',
} as const
const inForm = {
  scheme: 'custom_hmac',
  signed: '{timestamp}{body.token}',
  signature_path: 'signature',
  timestamp_path: 'timestamp',
} as const

type Parts = { readonly timestamp: unknown; readonly token: unknown; readonly signature: unknown }
const parts = { timestamp: String(NOW), token: TOKEN, signature: mac(`${NOW}${TOKEN}`) }
const json = (over: Partial<Parts> = {}): string =>
  JSON.stringify({ signature: { ...parts, ...over }, 'event-data': { event: 'opened' } })
const multipart = (fields: readonly (readonly [string, string])[]): string =>
  `preamble\r\n${fields.map(([name, value]) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`).join('')}--b--\r\n`

const saidBy =
  (load: (typeof PLATFORMS)[number][1]) =>
  async (sender: object, body: string, headers: Record<string, string> = JSON_TYPE): Promise<string> => {
    const { verify } = await load()
    const verdict = await verify({ sender: sender as typeof inJson, secret: SECRET, headers, body, now: NOW * 1_000 })
    return verdict.state === 'failed' ? verdict.reason : verdict.state
  }

for (const [platform, load] of PLATFORMS)
  describe(`signatures in the body, on ${platform}`, () => {
    const said = saidBy(load)

    test('members of JSON, in text or as a number', async () => {
      assert.equal(await said(inJson, json()), 'verified')
      assert.equal(await said(inJson, json({ timestamp: NOW })), 'verified')
    })

    test('fields of a form, and of a multipart form with files', async () => {
      const form = new URLSearchParams(parts).toString()
      assert.equal(await said(inForm, form, FORM_TYPE), 'verified')
      const type = { 'content-type': 'multipart/form-data; boundary="b"' }
      const file = '--b\r\nContent-Disposition: form-data; name="token"; filename="a"\r\n\r\nx\r\n'
      const fields = Object.entries({ subject: 'Grüße', ...parts })
      assert.equal(await said(inForm, multipart(fields).replace('--b\r\n', `${file}--b\r\n`), type), 'verified')
    })

    test('each changed part is refused', async () => {
      const changes = [
        { token: `${TOKEN}0` },
        { timestamp: String(NOW + 1) },
        { signature: mac('other') },
        { signature: parts.signature.slice(0, -1) },
        { token: undefined },
        { token: { toString: TOKEN } },
      ]
      for (const change of changes)
        assert.equal(await said(inJson, json(change)), 'bad_signature', JSON.stringify(change))
      assert.equal(await said(inJson, json({ signature: undefined })), 'missing_header')
      assert.equal(await said(inJson, json({ timestamp: undefined })), 'missing_header')
      for (const body of ['', '[]', 'null', '"signature"', '{"signature":[]}', 'signature=1'])
        assert.equal(await said(inJson, body), 'missing_header', body)
    })

    test('a field that is sent twice counts as missing, because receivers disagree about which one counts', async () => {
      const twice = `${new URLSearchParams(parts).toString()}&signature=${'0'.repeat(64)}`
      assert.equal(await said(inForm, twice, FORM_TYPE), 'missing_header')
      const type = { 'content-type': 'multipart/form-data; boundary=b' }
      const fields = [...Object.entries(parts), ['token', 'other'] as const]
      assert.equal(await said(inForm, multipart(fields), type), 'bad_signature')
    })

    test('an old timestamp is stale only with a right signature', async () => {
      const timestamp = String(NOW - 301)
      assert.equal(await said(inJson, json({ timestamp, signature: mac(timestamp + TOKEN) })), 'stale_timestamp')
      assert.equal(await said(inJson, json({ timestamp })), 'bad_signature')
      // The signed text is the same when digits of the token move to the timestamp, but no such time is near.
      const moved = { timestamp: `${NOW}${TOKEN.slice(0, 2)}`, token: TOKEN.slice(2) }
      assert.equal(await said(inJson, json(moved)), 'stale_timestamp')
    })

    test('a header can sign members of the body; a name of an inherited property is no member', async () => {
      const sender = {
        scheme: 'custom_hmac',
        signed: '{body.a\\.b.0}:{body.n}:{body.constructor.name}',
        header: 'X-Sig',
      }
      const body = '{"a.b":["x","y"],"n":42.5}'
      assert.equal(await said(sender, body, { ...JSON_TYPE, 'x-sig': mac('x:42.5:') }), 'verified')
      assert.equal(
        await said(sender, body.replace('x', 'z'), { ...JSON_TYPE, 'x-sig': mac('x:42.5:') }),
        'bad_signature',
      )
    })
  })

test('the explanation names the member of the body', async () => {
  const [[, load]] = PLATFORMS as [(typeof PLATFORMS)[number]]
  const { explain } = await load()
  const { steps } = await explain({
    sender: inJson,
    secret: SECRET,
    headers: JSON_TYPE,
    body: json(),
    now: NOW * 1_000,
  })
  assert.deepEqual(
    steps.map(({ step, text }) => [step, text]),
    [
      ['secret', 'This endpoint has a secret.'],
      ['header', 'The member signature.signature of the body is there.'],
      ['format', 'It has the form <hex>.'],
      ['timestamp', `The timestamp in the member signature.timestamp of the body is ${NOW}, in Unix seconds.`],
      ['digest', 'The signature is the one that the current secret makes for this body.'],
      ['tolerance', 'It is 0 s old, and 300 s is allowed.'],
    ],
  )
})

test('a multipart body with more parts than a form may have, or a boundary of another type, has no members', async () => {
  const [[, load]] = PLATFORMS as [(typeof PLATFORMS)[number]]
  const { verify } = await load()
  const many = multipart([
    ...Array.from({ length: 1_001 }, (_, at) => [`f${at}`, ''] as const),
    ...Object.entries(parts),
  ])
  for (const type of ['multipart/form-data; boundary=b', 'multipart/mixed; boundary=b', 'multipart/form-data']) {
    const verdict = await verify({
      sender: inForm,
      secret: SECRET,
      headers: { 'content-type': type },
      body: many,
      now: NOW * 1_000,
    })
    assert.equal(verdict.state, 'failed', type)
  }
})
