import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { blocksIn, type Block } from './server-sent-events.ts'

async function blocks(...texts: readonly string[]): Promise<readonly Block[]> {
  async function* all(): AsyncGenerator<string> {
    yield* texts
  }
  const found: Block[] = []
  for await (const block of blocksIn(all())) found.push(block)
  return found
}

test('an event has a type, an id and the text of its data lines', async () => {
  assert.deepEqual(
    await blocks('retry: 3000\nid: a\n\nid: b\nevent: record\ndata: {"x":\ndata:1}\n\n: beat\n\nid: half'),
    [
      { type: 'message', id: 'a', data: '' },
      { type: 'record', id: 'b', data: '{"x":\n1}' },
      { type: 'message', id: undefined, data: '' },
    ],
  )
})

test('the reader gets the same events from any pieces of a stream, with any line end', async () => {
  for (const end of ['\n', '\r\n', '\r']) {
    const text = ['id: 1', 'event: record', 'data: {"a":"ü"}', '', 'id: 2', 'data: x', '', ''].join(end)
    const whole = await blocks(text)
    assert.deepEqual(whole.slice(0, 2), [
      { type: 'record', id: '1', data: '{"a":"ü"}' },
      { type: 'message', id: '2', data: 'x' },
    ])
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(text.length), { maxLength: 6 }), async (cuts) => {
        const at = [0, ...cuts.toSorted((a, b) => a - b), text.length]
        const parts = at.slice(1).map((to, index) => text.slice(at[index], to))
        assert.deepEqual(await blocks(...parts), whole)
      }),
      { numRuns: 50 },
    )
  }
})
