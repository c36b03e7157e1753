import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { aWebhook, post, recordOf, submissionOf } from '../stage/fixtures.ts'
import type { Answer, World } from '../stage/harness.ts'
import { logged } from '../stage/rejection-log.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** The state of a verification is one of four words, and the same one wherever an event or a rejection is shown. */
let world: World

onWorldStage(
  (made) => {
    ;({ world } = made)
  },
  { loops: [] },
)

const SECRET = 'a secret of the sender'
const BODY = '{"id":1}'
const signed = (body: string): string => `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`
const SIGNATURE = signed(BODY)

const CASES = [
  ['verified', { scheme: 'code_host', secret: SECRET }, { 'x-hub-signature-256': SIGNATURE }],
  ['authenticated', { scheme: 'static_token', header: 'X-Token', secret: SECRET }, { 'x-token': SECRET }],
  ['authenticated', { scheme: 'basic_auth', secret: 'a:b' }, { authorization: `Basic ${btoa('a:b')}` }],
  ['unattempted', { scheme: 'none' }, { 'x-hub-signature-256': SIGNATURE }],
] as const

for (const [state, verification, headers] of CASES)
  test(`an event of the scheme ${verification.scheme} is ${state} in every answer`, async () => {
    const { id, public_url: url } = await aWebhook(world, { verification })
    const sent = await post(url, BODY, { headers })
    assert.equal(sent.status, 201)
    const [{ id: record }] = sent.body.records
    const listed = (await world.admin('GET', `submissions?webhook_id=${id}`)).body.submissions
    const found = (await world.admin('GET', `records?limit=1`)).body.records
    const story: Answer = await world.admin('GET', `search/correlate/${record}`)
    const shown = [
      listed[0],
      await submissionOf(world, sent.body.id),
      await recordOf(world, record),
      found.find((one: Answer['body']) => one.id === record),
      story.body.submission,
    ]
    assert.deepEqual(
      shown.map((one) => one.verification),
      shown.map(() => state),
    )
  })

test('a rejection is failed by its proof, and unattempted before the check', async () => {
  const verification = { scheme: 'code_host', secret: SECRET }
  const { id, public_url: url } = await aWebhook(world, { verification })
  await post(url, BODY)
  await post(url, BODY, { headers: { 'x-hub-signature-256': SIGNATURE.replace(/.$/, 'x') } })
  await post(url, BODY, { headers: { 'x-hub-signature-256': SIGNATURE, 'content-encoding': 'compress' } })
  await post(url, '{', { headers: { 'x-hub-signature-256': signed('{') } })
  const rows = await logged(world, 4, { webhook_id: id })
  assert.deepEqual(Object.fromEntries(rows.map(({ reason, verification: state }) => [reason, state])), {
    missing_header: 'failed',
    bad_signature: 'failed',
    unsupported_encoding: 'unattempted',
    invalid_body: null,
  })
})
