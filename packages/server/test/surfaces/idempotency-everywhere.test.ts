import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sql } from '../../src/platform/db.ts'
import {
  ALL,
  assertRefused,
  call,
  database,
  enterPlaces,
  home,
  leavePlaces,
  pathOf,
  sink,
  whoCalls,
  type Asked,
  type Heard,
  type Named,
} from '../stage/admin-asking.ts'
import { example } from '../stage/route-examples.ts'

/** An Idempotency-Key is taken on every POST but that of API keys, also where a secret is shown or another system is asked. */
before(enterPlaces)
after(leavePlaces)

const routeNamed = (name: string): Named => ALL.find((one) => one.name === name) ?? assert.fail(name)

async function keyed(named: Named, asked: Asked, key: string): Promise<Heard> {
  const by = asked.by ?? (await whoCalls(named, home))
  const { query, body } = asked
  return call(by, `POST ${pathOf(named, asked)}`, {
    headers: { 'idempotency-key': key },
    ...(query === undefined ? {} : { query }),
    ...(body === undefined ? {} : { body }),
  })
}

test('API keys alone refuse an Idempotency-Key', () => {
  assert.deepEqual(
    ALL.filter(({ route }) => route.refusesIdempotencyKey === true).map(({ name }) => name),
    ['apiKeys.create'],
  )
})

for (const name of [
  'aiProviders.test',
  'billing.checkout',
  'billing.openPortal',
  'destinations.test',
  'forwarders.test',
  'portalTokens.create',
  'sources.test',
  'webhooks.signSample',
])
  test(`${name} gives a repeat the first answer, as it was, and does its work once`, async () => {
    const named = routeNamed(name)
    const asked = await example(named, home)
    const key = `once-${name}`
    const first = await keyed(named, asked, key)
    assert.equal(first.status, named.route.status, first.text)
    const [sent, audited] = [sink.received.length, await auditCount()]
    const again = await keyed(named, asked, key)
    assert.deepEqual([again.status, again.text], [first.status, first.text])
    assert.equal(again.headers.get('idempotent-replayed'), 'true')
    assert.deepEqual([sink.received.length, await auditCount()], [sent, audited])
    assertRefused(await keyed(named, { ...asked, query: { other: '1' } }, key), 422, 'idempotency_key_reused')
  })

test('the token of a portal is stored only encrypted, and a repeat shows it', async () => {
  const named = routeNamed('portalTokens.create')
  const asked = await example(named, home)
  const { token } = (await keyed(named, asked, 'secret')).body
  assert.match(token, /^hpt_/)
  const stored = await database.many<{ response: Buffer }>(
    sql`select response from idempotency_records where response is not null`,
  )
  assert.ok(stored.length > 0)
  assert.equal(
    stored.some(({ response }) => response.includes(token)),
    false,
  )
  assert.equal((await keyed(named, asked, 'secret')).body.token, token)
})

async function auditCount(): Promise<number> {
  return (await database.one<{ found: number }>(sql`select count(*)::int as found from audit_rows`)).found
}
