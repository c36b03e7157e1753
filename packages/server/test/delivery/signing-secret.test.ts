import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { decodeId } from '@postroad/contract'
import { Webhook } from 'standardwebhooks'
import { sql, type Database } from '../../src/platform/db.ts'
import { aDestination, post, signedIn } from '../stage/fixtures.ts'
import type { Answer, Received, Sink, World } from '../stage/harness.ts'
import { ask, theWorkspace, type Headers } from '../stage/people.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** Contract part 5: only people can reveal and rotate the signing secret of a destination. */
let world: World
let database: Database
let sink: Sink

onWorldStage(
  async (made) => {
    ;({ world, database, sink } = made)
  },
  { loops: [] },
)

const HOUR_MS = 3_600_000
let datasets = 0

type Target = { readonly id: string; readonly secret: string; send(): Promise<Received> }

async function aTarget(): Promise<Target> {
  datasets += 1
  const dataset = `d${datasets}`
  const { destination, secret } = await aDestination(world, { url: sink.url, datasets: [dataset] })
  const send = async (): Promise<Received> => {
    const had = sink.received.length
    assert.equal((await post(`${world.endpoint}/${dataset}`, '{"n":1}')).status, 201)
    const got = (await sink.until(had + 1))[had]
    assert.ok(got)
    return got
  }
  return { id: destination.id, secret, send }
}

/** Signs in again, because the clock moves further here than a session lasts. */
const owner = async (): Promise<Headers> => signedIn(world, await theWorkspace(database))
const rotate = async (id: string, body: object = {}): Promise<Answer> =>
  ask(world, `POST destinations/${id}/rotate-secret`, { headers: await owner(), body })

/** The secrets that made the signatures of a request, in the order of the signatures in both headers. */
function signersOf({ headers, body }: Received, secrets: readonly string[]): readonly string[] {
  const [time = '', ...items] = String(headers['service-signature']).split(',')
  const service = items.map(
    (item) =>
      secrets.find(
        (secret) =>
          item ===
          `v1=${createHmac('sha256', secret)
            .update(`${time.slice(2)}.${body}`)
            .digest('hex')}`,
      ) ?? 'nobody',
  )
  const at = new Date(Number(headers['webhook-timestamp']) * 1_000)
  const standard = String(headers['webhook-signature'])
    .split(' ')
    .map(
      (item) =>
        secrets.find((secret) => new Webhook(secret).sign(String(headers['webhook-id']), at, body) === item) ??
        'nobody',
    )
  assert.deepEqual(service, standard)
  return service
}

test('a person sees the secret that signs deliveries; the audit log records who looked, and not the secret', async () => {
  const target = await aTarget()
  const shown = await ask(world, `POST destinations/${target.id}/reveal-secret`, { headers: await owner() })
  assert.deepEqual(
    [shown.status, shown.body.signing_secret, shown.headers.get('cache-control')],
    [200, target.secret, 'no-store'],
  )
  const rows = (await world.admin('GET', `audit?target=${target.id}`)).body.audit
  assert.equal(rows[0].action, 'reveal_signing_secret')
  assert.ok(!JSON.stringify(rows).includes(target.secret))
})

test('no API key may see or rotate it, whatever its role, and nothing changes', async () => {
  const target = await aTarget()
  for (const verb of ['reveal-secret', 'rotate-secret']) {
    const answer = await world.admin('POST', `destinations/${target.id}/${verb}`, {})
    assert.deepEqual([answer.status, answer.body.code], [403, 'agent_not_permitted'])
  }
  assert.deepEqual(signersOf(await target.send(), [target.secret]), [target.secret])
})

test('after a rotation both secrets sign, the new one first, until the deadline; then the new one alone, without a write', async () => {
  const target = await aTarget()
  const answer = await rotate(target.id)
  const fresh = answer.body.signing_secret
  assert.notEqual(fresh, target.secret)
  assert.match(fresh, /^whsec_[A-Za-z0-9+/]{43}=$/)
  assert.equal(
    answer.body.destination.previous_secret_expires_at,
    new Date(world.clock.now() + 24 * HOUR_MS).toISOString(),
    'the default is 24 hours',
  )
  const secrets = [target.secret, fresh]
  assert.deepEqual(signersOf(await target.send(), secrets), [fresh, target.secret])
  world.clock.advance(24 * HOUR_MS - 1)
  assert.deepEqual(signersOf(await target.send(), secrets), [fresh, target.secret])
  const rowOf = () =>
    database.one<{ row: string }>(
      sql`select t::text as row from destinations t where id = ${decodeId('destination', target.id) ?? ''}`,
    )
  const row = await rowOf()
  world.clock.advance(1)
  assert.deepEqual(signersOf(await target.send(), secrets), [fresh])
  assert.equal(
    (await world.admin('GET', `destinations/${target.id}`)).body.destination.previous_secret_expires_at,
    null,
  )
  assert.deepEqual(await rowOf(), row)
})

test('an overlap ends by the clock of the database, also on a machine with a wrong clock', async () => {
  const target = await aTarget()
  const fresh = (await rotate(target.id, { overlap_hours: 1 })).body.signing_secret
  const secrets = [target.secret, fresh]
  world.clock.wallAheadMs = 2 * HOUR_MS
  assert.deepEqual(signersOf(await target.send(), secrets), [fresh, target.secret])
  world.clock.wallAheadMs = -2 * HOUR_MS
  world.clock.advance(HOUR_MS)
  assert.deepEqual(signersOf(await target.send(), secrets), [fresh])
  world.clock.wallAheadMs = 0
})

test('with overlap 0 the previous secret ends immediately; a second rotation ends the oldest immediately, if the caller allows it', async () => {
  const target = await aTarget()
  const second = (await rotate(target.id, { overlap_hours: 720 })).body.signing_secret
  for (const overlap_hours of [0, 1]) {
    const { status, body } = await rotate(target.id, { overlap_hours })
    assert.deepEqual([status, body.reason], [409, 'overlap_running'])
  }
  assert.deepEqual(signersOf(await target.send(), [target.secret, second]), [second, target.secret])
  const third = (await rotate(target.id, { overlap_hours: 1, end_overlap: true })).body.signing_secret
  assert.deepEqual(signersOf(await target.send(), [target.secret, second, third]), [third, second])
  const last = await rotate(target.id, { overlap_hours: 0, end_overlap: true })
  assert.equal(last.body.destination.previous_secret_expires_at, null)
  assert.deepEqual(signersOf(await target.send(), [target.secret, second, third, last.body.signing_secret]), [
    last.body.signing_secret,
  ])
  for (const overlap_hours of [-1, 721, 1.5, '24'])
    assert.equal((await rotate(target.id, { overlap_hours })).status, 400)
})

test('the audit row of a rotation has its overlap and its deadline; neither the row nor any table has a secret in plain text', async () => {
  const target = await aTarget()
  const fresh = (await rotate(target.id, { overlap_hours: 2 })).body.signing_secret
  const [row] = (await world.admin('GET', `audit?target=${target.id}`)).body.audit
  assert.deepEqual([row.action, row.details.overlap_hours], ['rotate_signing_secret', 2])
  for (const table of ['audit_rows', 'destinations']) {
    const rows = await database.many<{ row: string }>({
      strings: [`select t::text as row from ${table} t`],
      values: [],
    })
    for (const secret of [target.secret, fresh])
      assert.ok(
        !rows.some(({ row: text }) => text.includes(secret) || text.includes(Buffer.from(secret).toString('hex'))),
        table,
      )
  }
})
