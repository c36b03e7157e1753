import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { SourcePreset } from '@postroad/contract'
import { aRoute } from '../stage/delivery-routes.ts'
import { aWebhook, recordOf, submissionOf } from '../stage/fixtures.ts'
import type { Answer, World } from '../stage/harness.ts'
import { aSink as aSocketSink } from '../stage/outbound-door.ts'
import { sendBytes } from '../stage/raw-http.ts'
import { BODY_CASES } from '../stage/sender-bodies.ts'
import { RECEIVER_CASES, SENDER_CASES, type SenderCase } from '../stage/sender-cases.ts'
import { HANDSHAKE_CASES } from '../stage/sender-handshakes.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** The field cases: each request of a real sender as bytes, with the right answer, and each answer of a real receiver. */
let world: World

onWorldStage(
  (made) => {
    ;({ world } = made)
  },
  { env: { PUBLIC_URL: 'https://hooks.example.com' }, loops: [] },
)

let made = 0
/** An endpoint whose records are alone in their dataset. */
async function endpointOf({ webhook: { preset, secret, ...members } }: SenderCase): Promise<Answer['body']> {
  made += 1
  const own = { dataset: `case_${made}`, ...members }
  if (preset === undefined) return aWebhook(world, own)
  const presets: readonly SourcePreset[] = (await world.admin('GET', 'source-presets')).body.source_presets
  const { settings } = presets.find(({ id }) => id === preset) ?? assert.fail(preset)
  return aWebhook(world, { ...settings, ...own, verification: { ...settings.verification, secret } })
}

async function payloadsOf({ dataset }: Answer['body']): Promise<readonly string[]> {
  const { body } = await world.admin('GET', `records?dataset=${dataset}&limit=100`)
  const ids: readonly string[] = (body.records ?? []).toReversed().map(({ id }: { id: string }) => id)
  return Promise.all(ids.map(async (id) => (await recordOf(world, id)).data_text))
}

const partOf = (whole: Readonly<Record<string, unknown>>, part: object): object =>
  Object.fromEntries(Object.keys(part).map((name) => [name, whole[name]]))

async function take(row: SenderCase): Promise<void> {
  const endpoint = await endpointOf(row)
  const { id, public_url: url, public_path: path } = endpoint
  const seconds = Math.floor(world.clock.wall() / 1_000)
  const rights = typeof row.right === 'function' ? row.right({ url, path, seconds }) : row.right
  for (const [at, bytes] of row.requests({ url, path, seconds }).entries()) {
    // oxlint-disable-next-line no-await-in-loop -- one request after the other
    const { status, headers, body } = await sendBytes(world.address, bytes)
    const right = rights[at] ?? assert.fail('a request without a right answer')
    assert.equal(status, right.status, `request ${at + 1}: ${body}`)
    if (right.type !== undefined) assert.equal(headers['content-type']?.split(';')[0], right.type)
    if (right.headers !== undefined) assert.deepEqual(partOf(headers, right.headers), right.headers)
    if (right.body !== undefined) assert.equal(body, right.body)
  }
  if (row.payloads !== undefined) assert.deepEqual(await payloadsOf(endpoint), row.payloads)
  if (row.submission !== undefined) {
    const { body } = await world.admin('GET', `submissions?webhook_id=${id}`)
    const first = await submissionOf(world, body.submissions.at(-1).id)
    assert.deepEqual(partOf(first, row.submission), row.submission)
  }
}

describe('senders', () => {
  for (const row of [...SENDER_CASES, ...BODY_CASES, ...HANDSHAKE_CASES]) test(row.name, () => take(row))
})

describe('receivers', () => {
  for (const { name, answer, state, attempt } of RECEIVER_CASES)
    test(name, async (t) => {
      const { port, seen } = await aSocketSink(t, (socket) => void socket.end(answer))
      const endpoint = world.address + new URL(world.endpoint).pathname
      const route = await aRoute({ ...world, endpoint }, `http://127.0.0.1:${port}/`)
      const delivery = await route.in(await route.send(), state)
      assert.deepEqual([delivery.attempt_count, seen.requests], [1, 1], 'one attempt arrived once')
      assert.deepEqual(partOf(delivery.attempts[0], attempt), attempt)
      await route.remove()
    })
})
