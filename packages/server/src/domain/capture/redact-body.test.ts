import assert from 'node:assert/strict'
import { test } from 'node:test'
import { redactedStart } from './redact-body.ts'

const redacted = (text: string): string | undefined => redactedStart(Buffer.from(text), 'the-slug-of-the-endpoint')

test('values of members with the names of secrets are masked in JSON, in forms and in multipart bodies', () => {
  assert.equal(
    redacted('{"user":"a","password":"p\\"w","apiKey":12,"card_number": "4111","nested":{"access_token":"t"}}'),
    '{"user":"a","password":"•••","apiKey":"•••","card_number": "•••","nested":{"access_token":"•••"}}',
  )
  assert.equal(redacted('user=a&client_secret=s&x=1'), 'user=a&client_secret=•••&x=1')
  assert.equal(
    redacted('--b\r\nContent-Disposition: form-data; name="token"\r\n\r\nabc\r\n--b--'),
    '--b\r\nContent-Disposition: form-data; name="token"\r\n\r\n•••\r\n--b--',
  )
})

test('a secret that the end of the sample cuts off is masked too', () => {
  const cut = redacted(`{"a":"${'x'.repeat(4_070)}","secret":"${'s'.repeat(50)}"}`) ?? ''
  assert.ok(cut.endsWith('"secret":"•••"'), cut.slice(-40))
})

test('words that only look similar stay', () => {
  assert.equal(redacted('{"author":"a","tokens_used":1,"spinner":2}'), '{"author":"a","tokens_used":1,"spinner":2}')
})

test('the credential of the request is masked wherever it is', () => {
  assert.equal(redacted('{"url":"the-slug-of-the-endpoint"}'), '{"url":"•••"}')
})

test('only the first 4 KiB are stored, without half a character at the end, and only if they are text', () => {
  assert.equal(redacted(`${'x'.repeat(4_095)}é`), 'x'.repeat(4_095))
  assert.equal(redactedStart(Buffer.from([0xff, 0xfe, 0x00]), ''), undefined)
  assert.equal(redactedStart(Buffer.from('a\0b'), ''), undefined)
})

test('hostile text is redacted quickly', () => {
  for (const text of [
    '"'.repeat(4_096),
    '\\'.repeat(4_096),
    '"a":'.repeat(1_024),
    `"${'\\"'.repeat(2_000)}`,
    '&='.repeat(2_000),
  ])
    assert.equal(typeof redacted(text), 'string')
})
