import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { openDatabase, sql } from '../../src/platform/db.ts'
import { aWorld } from '../stage/harness.ts'

const ODD = "x-'sig|`$"
const SAYS = /The header is the name of a request header, such as \S+\. Use letters, digits and hyphens; quotes/

test('a header name with a meaning for a shell is refused; a stored one continues to work', async (t) => {
  const world = await aWorld({ loops: [] })
  t.after(() => world.stop())
  const hmac = { scheme: 'hmac', header: ODD, secret: 'first' }
  for (const [path, body] of [
    ['webhooks', { name: 'a', verification: hmac }],
    ['webhooks', { name: 'a', idempotency: { header: ODD } }],
    ['destinations', { name: 'a', url: 'https://example.com/', headers: { [ODD]: 'x' } }],
    ['destinations', { name: 'a', url: 'https://example.com/', auth: { kind: 'header', header: ODD, value: 'x' } }],
  ] as const) {
    const { status, body: said } = await world.admin('POST', path, body)
    assert.equal(status, 400, path)
    assert.match(said.error, SAYS)
  }

  const plain = { scheme: 'hmac', header: 'x-signature', secret: 'first' }
  const { body } = await world.admin('POST', 'webhooks', { name: 'held', verification: plain })
  const database = openDatabase({
    target: world.storage.operator,
    connectionsMax: 1,
    applicationName: 'test',
    statementTimeoutMs: 20_000,
  })
  t.after(() => database.close())
  await database.run(sql`
    update webhooks
       set verification = jsonb_set(verification::jsonb, '{header}', to_jsonb(${ODD}::text))::json,
           idempotency = json_build_object('header', ${ODD}::text)
     where slug = 'held'`)
  const send = async (secret: string): Promise<number> => {
    const signature = createHmac('sha256', secret).update('{"n":1}').digest('hex')
    const headers = { 'content-type': 'application/json', [ODD]: signature }
    return (await fetch(body.webhook.public_url, { method: 'POST', headers, body: '{"n":1}' })).status
  }
  assert.equal(await send('first'), 201)
  const path = `webhooks/${body.webhook.id}`
  const shown = await world.admin('GET', path)
  assert.equal(shown.body.webhook.verification.header, ODD)
  assert.equal((await world.admin('PATCH', path, { name: 'renamed' })).status, 200)
  const rotated = await world.admin('POST', `${path}/rotate-verification-secret`, {
    secret: 'second',
    overlap_hours: 0,
  })
  assert.equal(rotated.status, 200, JSON.stringify(rotated.body))
  assert.equal(await send('second'), 201)
  assert.equal((await world.admin('GET', path)).body.webhook.idempotency.header, ODD)
})
