import assert from 'node:assert/strict'
import { createHmac, randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { aDestination, aWebhook, filedText, post, recordOf, submissionOf } from '../stage/fixtures.ts'
import type { Answer, Sink, World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/**
 * Compressed bodies: signed and stored as sent, routed and delivered as decompressed text, and bounded whatever they
 * contain.
 */
let world: World
let sink: Sink

onWorldStage(
  (made) => {
    ;({ world, sink } = made)
  },
  { loops: [] },
)

const fast = (text: string | Buffer): Buffer =>
  brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })
const sign = (over: string | Buffer): string => createHmac('sha256', 'k').update(over).digest('hex')
/** A text of this many bytes, which no coding makes much smaller. */
const ofBytes = (bytes: number): string =>
  `"${randomBytes(bytes / 2)
    .toString('hex')
    .padEnd(bytes - 2, 'a')
    .slice(0, bytes - 2)}"`
const CODINGS = [
  { name: 'gzip', coding: 'gzip', pack: gzipSync },
  { name: 'x-gzip', coding: 'X-GZIP', pack: gzipSync },
  { name: 'deflate', coding: 'deflate', pack: deflateSync },
  { name: 'deflate without its header', coding: 'deflate', pack: deflateRawSync },
  { name: 'br', coding: 'br', pack: fast },
  { name: 'zstd', coding: 'zstd', pack: zstdCompressSync },
] as const

const send = (
  coding: string,
  body: Buffer,
  { url = world.endpoint, type = 'application/json', headers = {} } = {},
): Promise<Answer> => post(url, new Uint8Array(body), { type, headers: { 'content-encoding': coding, ...headers } })
const outcome = ({ status, body }: Answer): string => `${status} ${body.reason}`

for (const { name, coding, pack } of CODINGS) {
  describe(name, () => {
    test('a compressed body is decompressed: its text is filed byte for byte, and the bytes as sent are stored', async () => {
      const text = '{ "n": 12345678901234567890, "a":1, "a":2, "é": "☃" }'
      const sent = pack(text)
      const answer = await send(coding, sent)
      assert.equal(answer.status, 201, JSON.stringify(answer.body))
      assert.equal(await filedText(world, answer), text)
      const submission = await submissionOf(world, answer.body.id)
      const kept =
        submission.body === null ? Buffer.from(submission.body_base64, 'base64') : Buffer.from(submission.body)
      assert.deepEqual([kept, submission.body_bytes], [sent, sent.length])
    })

    test('compressed forms are decompressed as well', async () => {
      const answer = await send(coding, pack('a=1&b=x+y'), { type: 'application/x-www-form-urlencoded' })
      assert.deepEqual((await recordOf(world, answer.body.records[0].id)).data, { a: '1', b: 'x y' })
    })

    test('the signature covers the bytes as sent', async () => {
      const { public_url } = await aWebhook(world, { verification: { scheme: 'hmac', secret: 'k' } })
      const sent = pack('{"a":1}')
      assert.equal((await send(coding, sent, { url: public_url, headers: { 'x-signature': sign(sent) } })).status, 201)
      assert.equal(
        outcome(await send(coding, sent, { url: public_url, headers: { 'x-signature': sign('{"a":1}') } })),
        '401 bad_signature',
      )
    })

    test('a compressed body can inflate to as many bytes as a plain body can have, and not one more', async () => {
      assert.equal((await send(coding, pack(ofBytes(1_048_576)))).status, 201)
      assert.equal(outcome(await send(coding, pack(ofBytes(1_048_577)))), '413 payload_too_large')
    })

    test('a decompression bomb gets 413, and many simultaneous ones exhaust neither the memory nor the CPU of the server', async () => {
      const bomb = pack(Buffer.alloc(32 * 1_048_576, 0x20))
      const rss = process.memoryUsage.rss()
      const answers = await Promise.all(Array.from({ length: 20 }, () => send(coding, bomb)))
      assert.ok(answers.every((answer) => outcome(answer) === '413 payload_too_large'))
      assert.ok(
        process.memoryUsage.rss() - rss < 200 * 1_048_576,
        `${(process.memoryUsage.rss() - rss) / 1_048_576} MiB`,
      )
      assert.equal((await post(world.endpoint, '{}')).status, 201)
    })

    test('a compressed stream that is corrupt, truncated or followed by other bytes gets 400', async () => {
      const whole = pack('{"hello":"world","again":"and again and again"}')
      for (const broken of [
        whole.subarray(0, -1),
        whole.subarray(0, 4),
        Buffer.concat([whole, whole.subarray(0, 5)]),
        Buffer.from('{"a":1}'),
        Buffer.from([0]),
      ]) {
        assert.equal(outcome(await send(coding, broken)), '400 invalid_body', broken.toString('hex'))
      }
    })

    test('a compressed stream of nothing is an empty body, and compressed JSON is parsed as strictly as plain JSON', async () => {
      assert.equal(outcome(await send(coding, pack(''))), '400 empty_body')
      assert.equal(outcome(await send(coding, Buffer.alloc(0))), '400 empty_body')
      for (const text of ['{', '{"a":1}x', `${'['.repeat(129)}${']'.repeat(129)}`])
        assert.equal(outcome(await send(coding, pack(text))), '400 invalid_body')
    })
  })
}

test('an unknown coding or several codings get 415 before the signature check', async () => {
  const { public_url } = await aWebhook(world, { verification: { scheme: 'hmac', secret: 'k' } })
  for (const coding of [
    'compress',
    'gzip, gzip',
    'gzip, identity',
    'identity, gzip',
    'br,',
    '*',
    'constructor',
    '__proto__',
    'gzip;q=1',
  ]) {
    assert.equal(outcome(await send(coding, gzipSync('{}'), { url: public_url })), '415 unsupported_encoding', coding)
  }
})

test('a Content-Encoding that names a charset compresses nothing', async () => {
  for (const charset of ['UTF-8', 'utf8', 'ISO-8859-1', 'windows-1252', 'us-ascii']) {
    const answer = await send(charset, Buffer.from('{"a":1}'))
    assert.equal(answer.status, 201, charset)
    assert.equal(await filedText(world, answer), '{"a":1}')
  }
})

test('a request without a valid signature never makes the server inflate: an unsigned bomb gets 401', async () => {
  const { public_url } = await aWebhook(world, { verification: { scheme: 'hmac', secret: 'k' } })
  assert.equal(
    outcome(
      await send('gzip', gzipSync(Buffer.alloc(8 * 1_048_576)), { url: public_url, headers: { 'x-signature': 'ab' } }),
    ),
    '401 bad_signature',
  )
})

test('a body that was sent compressed is delivered as text', async () => {
  const webhook = await aWebhook(world, { dataset: 'packed' })
  await aDestination(world, { url: sink.url, datasets: ['packed'] })
  const answer = await send('gzip', gzipSync('{ "a" : 1.0 }'), { url: webhook.public_url })
  const [received] = await sink.until(1)
  assert.equal(
    received?.body,
    `{"id":"${answer.body.records[0].id}","dataset":"packed","received_at":"2026-01-15T12:00:00.000Z","data":{ "a" : 1.0 }}`,
  )
})
