import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SseBlocks } from './sse-blocks.ts'

const blocksOf = (pieces: readonly string[], charsMax: number): readonly unknown[] => {
  const blocks = new SseBlocks(charsMax)
  return pieces.flatMap((piece) => blocks.feed(Buffer.from(piece)))
}

test('a stream is divided at its blank lines, whatever ends its lines and wherever a piece ends', () => {
  for (const end of ['\n', '\r\n', '\r']) {
    const [first, second] = [`id: 1${end}data: a${end}${end}`, `: comment${end}data: b${end}${end}`]
    const stream = `${first}${second}data: open`
    const wanted = [{ text: first }, { text: second }]
    assert.deepEqual(blocksOf([stream], 100), wanted)
    assert.deepEqual(blocksOf(stream.split(''), 100), wanted)
  }
})

test('of an event that is too large only its id and its name are left, and the next event is whole', () => {
  const large = `event: big\ndata: ${'x'.repeat(5_000)}\ndata: id: no\nid: 7\n\n`
  const stream = `${large}data: 1\n\n`
  const wanted = [{ text: null, id: '7', event: 'big' }, { text: 'data: 1\n\n' }]
  for (const charsMax of [20, 1_000, 5_000]) {
    assert.deepEqual(blocksOf([stream], charsMax), wanted)
    assert.deepEqual(blocksOf(stream.split(''), charsMax), wanted)
  }
  assert.equal(blocksOf([stream], 10_000).length, 2)
})
