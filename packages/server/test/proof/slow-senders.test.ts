import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aWebhook, post, Wire } from '../stage/fixtures.ts'
import { aWorld } from '../stage/harness.ts'

const SLOW = 1_000
const GOOD = 200

/** A tenth of the product's limits, so that a thousand of them end within the test. */
const PATIENCE = { headersMs: 1_000, requestMs: 3_000, lookMs: 100 }

test('while a thousand senders are slow every good request gets 201, and each slow one is finally cut with 408', async () => {
  const world = await aWorld({ env: { LOG_LEVEL: 'silent' }, patience: PATIENCE, loops: [] })
  const { public_url, id } = await aWebhook(world)
  const path = new URL(public_url).pathname
  const beginnings = [
    `POST ${path} HT`,
    `POST ${path} HTTP/1.1\r\nHost: a\r\nX-Slow: `,
    `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{`,
    `POST ${path} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{`,
  ]
  const slow = Array.from({ length: SLOW }, (_none, at) =>
    new Wire(world.baseUrl).send(beginnings[at % beginnings.length] ?? ''),
  )
  try {
    const statuses = new Map<number, number>()
    for (let sent = 0; sent < GOOD; sent += 20) {
      const answers = await Promise.all(Array.from({ length: 20 }, () => post(public_url, '{}')))
      for (const { status } of answers) statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
    assert.deepEqual([...statuses], [[201, GOOD]])
    const cut = await Promise.all(slow.map((wire) => wire.answer()))
    assert.deepEqual(
      [...new Set(cut.map((answer) => `${answer?.status} ${JSON.parse(answer?.body ?? '{}').reason}`))],
      ['408 request_timeout'],
    )
    await Promise.all(slow.map((wire) => wire.closed))
    assert.deepEqual(
      slow.filter((wire) => wire.rest !== ''),
      [],
    )
    assert.equal((await world.admin('GET', `submissions?webhook_id=${id}&limit=200`)).body.submissions.length, GOOD)
  } finally {
    for (const wire of slow) wire.destroy()
    await world.stop()
  }
})
