import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { inflate } from './inflate.ts'

const text = Buffer.from(JSON.stringify({ hello: 'world'.repeat(100) }))
const CASES = [
  { name: 'gzip', coding: 'gzip', pack: gzipSync },
  { name: 'deflate', coding: 'deflate', pack: deflateSync },
  { name: 'deflate without its header', coding: 'deflate', pack: deflateRawSync },
  { name: 'br', coding: 'br', pack: brotliCompressSync },
] as const

for (const { name, coding, pack } of CASES) {
  describe(name, () => {
    test('returns the original body up to the limit, and not one byte more', async () => {
      const body = pack(text)
      assert.deepEqual(await inflate(coding, { body, bytesMax: text.length }), text)
      assert.equal(await inflate(coding, { body, bytesMax: text.length - 1 }), 'too_large')
    })

    test('fails when the stream is cut off, is followed by other bytes, or has another format', async () => {
      const body = pack(text)
      for (const broken of [
        body.subarray(0, -1),
        body.subarray(0, 3),
        Buffer.concat([body, Buffer.from('more')]),
        Buffer.from('{"a":1}'),
      ]) {
        assert.equal(await inflate(coding, { body: broken, bytesMax: 10_000 }), 'broken', broken.toString('hex'))
      }
    })

    test('stops at the limit, so that a bomb of 24 MiB costs no more memory than the limit', async () => {
      const bomb = pack(Buffer.alloc(24 * 1_048_576))
      const before = process.memoryUsage.rss()
      assert.equal(await inflate(coding, { body: bomb, bytesMax: 1_048_576 }), 'too_large')
      assert.ok(process.memoryUsage.rss() - before < 24 * 1_048_576)
    })
  })
}

test('several gzip members are one stream, and the limit applies to all of them together', async () => {
  const body = Buffer.concat([gzipSync('{"a":'), gzipSync('1}')])
  assert.deepEqual(await inflate('gzip', { body, bytesMax: 7 }), Buffer.from('{"a":1}'))
  assert.equal(await inflate('gzip', { body, bytesMax: 6 }), 'too_large')
})
