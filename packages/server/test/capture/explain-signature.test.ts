import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { describe, test } from 'node:test'
import { secretPlace } from '../../src/resources/secret-place.ts'
import { aWebhook, behind, post, statement } from '../stage/fixtures.ts'
import type { Answer, World } from '../stage/harness.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** Explanations of why a signature is refused (decisions on verification). */
let world: World

onWorldStage(
  (made) => {
    ;({ world } = made)
  },
  { loops: [] },
)
const sample = async (webhook: { id: string }, members: object): Promise<Answer['body']> => {
  const { status, body } = await world.admin('POST', `webhooks/${webhook.id}/verify-sample`, members)
  assert.equal(status, 200, JSON.stringify(body))
  return body
}
const refused = (answer: Answer, what: RegExp): void => {
  assert.deepEqual([answer.status, answer.body.reason], [400, 'invalid_request'], JSON.stringify(answer.body))
  assert.match(answer.body.error, what)
}

describe('POST webhooks/{id}/verify-sample', () => {
  const secret = 'correct horse battery'
  const sign = (body: string, key = secret): string => `sha256=${createHmac('sha256', key).update(body).digest('hex')}`
  const mac = (body: string, key = secret) => createHmac('sha256', key).update(body)
  const aVerifying = (members: object = {}): Promise<Answer['body']> =>
    aWebhook(world, { verification: { scheme: 'code_host', secret, ...members } })
  test('the tester reports each step of the check for a request that passes', async () => {
    const body = '{"a":1}'
    assert.deepEqual(await sample(await aVerifying(), { headers: { 'X-Hub-Signature-256': sign(body) }, body }), {
      scheme: 'code_host',
      has_secret: true,
      ok: true,
      reason: null,
      failed_step: null,
      matched_secret: 'current',
      age_seconds: null,
      steps: [
        { step: 'secret', ok: true, text: 'This endpoint has a secret.' },
        { step: 'header', ok: true, text: 'The header X-Hub-Signature-256 is there.' },
        { step: 'format', ok: true, text: 'It has the form sha256=<hex>.' },
        { step: 'digest', ok: true, text: 'The signature is the one that the current secret makes for this body.' },
      ],
      hints: [],
    })
  })

  test('the tester names the failed step and its cause, as ingest does', async () => {
    const webhook = await aVerifying()
    const body = '{"a":1}'
    const failing = [
      { headers: {}, step: 'header', reason: 'missing_header' },
      { headers: { 'x-hub-signature-256': 'md5=1' }, step: 'format', reason: 'bad_signature' },
      { headers: { 'x-hub-signature-256': sign(body, 'wrong') }, step: 'digest', reason: 'bad_signature' },
    ]
    for (const { headers, step, reason } of failing) {
      const said = await sample(webhook, { headers, body })
      assert.deepEqual([said.ok, said.failed_step, said.reason], [false, step, reason])
      const ingest = await post(webhook.public_url, body, { headers })
      assert.deepEqual([ingest.status, ingest.body.reason], [401, reason])
      assert.equal(ingest.body.error, said.steps.find((one: { ok: boolean | null }) => one.ok === false).text)
    }
  })

  test('the answer never contains a secret or a digest that would pass, whatever the sample is', async () => {
    const t = Math.floor(world.clock.now() / 1_000)
    const webhooks = {
      'x-hub-signature-256': await aVerifying(),
      'stripe-signature': await aVerifying({ scheme: 'payments_provider' }),
    }
    for (const [header, webhook] of Object.entries(webhooks)) {
      const samples = ['{"a":1}', '{ "a": 1 }\n', ''].flatMap((body) =>
        [t, t - 1_000, t + 1_000].map((at) => ({ body, at })),
      )
      for (const { body, at } of samples) {
        const signed = header.startsWith('x-hub') ? body : `${at}.${body}`
        const whole = (digest: string): string =>
          header.startsWith('x-hub') ? `sha256=${digest}` : `t=${at},v1=${digest}`
        const [right, forged] = [mac(signed).digest('hex'), mac(signed, 'wrong').digest('hex')]
        const values = [
          whole(right),
          whole(forged),
          whole(right.slice(1)),
          whole(mac(signed.replaceAll(/[ \n]/g, '')).digest('hex')),
          whole('zz'),
          'nonsense',
          '',
          undefined,
        ]
        const digests = [signed, signed.trim(), signed.replaceAll(/[ \n]/g, '')].map((text) => mac(text).digest())
        const hidden = [
          secret,
          ...[Buffer.from(secret), ...digests].flatMap((bytes) => [
            bytes.toString('hex'),
            bytes.toString('base64').replace(/=+$/, ''),
            bytes.toString('base64url'),
          ]),
        ]
        for (const value of values) {
          const said = JSON.stringify(
            await sample(webhook, { headers: value === undefined ? {} : { [header]: value }, body }),
          ).toLowerCase()
          assert.deepEqual(
            hidden.filter((text) => said.includes(text.toLowerCase())),
            [],
            `${header}: ${value}`,
          )
        }
      }
    }
  })

  test('a base64 body is checked byte for byte, and the tester recognizes one that was changed on the way', async () => {
    const webhook = await aVerifying()
    const bytes = Buffer.from([0, 255, 128])
    const signature = `sha256=${createHmac('sha256', secret).update(bytes).digest('hex')}`
    assert.equal(
      (await sample(webhook, { headers: { 'x-hub-signature-256': signature }, body_base64: bytes.toString('base64') }))
        .ok,
      true,
    )
    const changed = await sample(webhook, { headers: { 'x-hub-signature-256': sign('{"a":1}') }, body: '{ "a": 1 }\n' })
    assert.deepEqual(changed.hints, [
      'The signature is valid for the body with its JSON compacted. The body was changed in transit.',
    ])
  })

  test('the tester judges the timestamp at the current time, or at the time in the request', async () => {
    const webhook = await aVerifying({ scheme: 'payments_provider' })
    const t = Math.floor(world.clock.now() / 1_000) - 1_000
    const headers = { 'Stripe-Signature': `t=${t},v1=${createHmac('sha256', secret).update(`${t}.{}`).digest('hex')}` }
    const old = await sample(webhook, { headers, body: '{}' })
    assert.deepEqual(
      [old.failed_step, old.reason, old.age_seconds, old.matched_secret],
      ['tolerance', 'stale_timestamp', 1_000, 'current'],
    )
    for (const now of [t + 10, new Date((t + 10) * 1_000).toISOString()]) {
      const fresh = await sample(webhook, { headers, body: '{}', now })
      assert.deepEqual(
        [fresh.ok, fresh.age_seconds, fresh.steps.at(-1).text],
        [true, 10, 'It is 10 s old, and 300 s is allowed.'],
      )
    }
  })

  test('the tester reports first that an endpoint has no secret, and reports an endpoint that verifies nothing', async () => {
    const webhook = await aWebhook(world, { verification: { scheme: 'code_host', without_secret: true } })
    const said = await sample(webhook, { headers: { 'x-hub-signature-256': sign('') } })
    assert.deepEqual(
      [said.has_secret, said.ok, said.failed_step, said.reason],
      [false, false, 'secret', 'bad_signature'],
    )
    assert.deepEqual(
      said.steps.map(({ ok }: { ok: boolean | null }) => ok),
      [false, null, null, null],
    )
    const open = await sample(await aWebhook(world), { headers: {} })
    assert.deepEqual([open.scheme, open.ok, open.has_secret, open.steps], ['none', true, false, []])
  })

  test('a previous secret passes until its deadline, and explains a sample after it', async () => {
    const webhook = await aVerifying()
    const database = behind(world)
    const uuid = (
      await database.one<{ id: string }>({ strings: [`select id from webhooks order by id desc limit 1`], values: [] })
    ).id
    const sealed = world.storage.cipher
      .seal('staple of yesterday', secretPlace('webhooks.previous_secret', uuid))
      .toString('hex')
    const end = new Date(world.clock.now() + 60_000)
    await statement(
      database,
      `update webhooks set previous_secret = '\\x${sealed}', previous_secret_expires_at = '${end.toISOString()}' where id = '${uuid}'`,
    )
    await database.close()
    const members = { headers: { 'x-hub-signature-256': sign('{}', 'staple of yesterday') }, body: '{}' }
    const alive = await sample(webhook, members)
    assert.deepEqual([alive.ok, alive.matched_secret], [true, 'previous'])
    const ended = await sample(webhook, { ...members, now: end.toISOString() })
    assert.deepEqual(
      [ended.ok, ended.hints],
      [false, ['It was made with the previous secret, which no longer verifies.']],
    )
  })

  test('a malformed request is refused, and the error names the member', async () => {
    const { id } = await aVerifying()
    const run = (members: object): Promise<Answer> => world.admin('POST', `webhooks/${id}/verify-sample`, members)
    refused(await run({}), /^headers/)
    refused(await run({ headers: { a: 1 } }), /^headers/)
    refused(await run({ headers: {}, body: 'a', body_base64: 'YQ==' }), /body/)
    refused(await run({ headers: {}, body_base64: '!' }), /^body_base64/)
    refused(await run({ headers: {}, now: 'soon' }), /^now/)
    refused(await run({ headers: {}, secret: 'x' }), /"secret"/)
    refused(
      await run({ headers: Object.fromEntries(Array.from({ length: 201 }, (_, at) => [`h${at}`, ''])) }),
      /^headers/,
    )
  })
})
