import assert from 'node:assert/strict'
import { decodeId } from '@postroad/contract'
import { test } from 'node:test'
import { sql, type Database } from '../../src/platform/db.ts'
import type { World } from '../stage/harness.ts'
import { prepareStates, type Prepared } from '../stage/held-states.ts'
import { call, connected } from '../stage/mcp-client.ts'
import { aGuest, aPortal, inPortal } from '../stage/portal-stage.ts'
import { onWorldStage } from '../stage/world-stage.ts'

/** Every state of a delivery at a destination of every light, as agents and customers see it. */

let world: World
let database: Database
let all: readonly Prepared[]

onWorldStage(
  async (made) => {
    ;({ world, database } = made)
    all = await prepareStates(world, database)
  },
  { env: { ROLES: 'web' } },
)

type Shown = { readonly id: string; readonly held_by: { readonly cause: string } | null }
const byId = (rows: readonly Shown[]): ReadonlyMap<string, Shown> => new Map(rows.map((row) => [row.id, row]))

test('the tools of agents show the cause of each delivery, and the health of each destination counts those held back', async () => {
  const client = await connected(world)
  for (const of of all) {
    const { answer: found } = await call(client, 'deliveries_search', { destination: of.destinationId, limit: 50 })
    const rows = byId(found.deliveries)
    for (const { id, case: one, cause } of of.deliveries) {
      const about = `${of.lane.name}: ${JSON.stringify(one)}`
      const { answer } = await call(client, 'delivery_get', { id })
      assert.deepEqual([answer.delivery.state, answer.delivery.held_by?.cause ?? null], [one.state, cause], about)
      assert.deepEqual(rows.get(id)?.held_by ?? null, answer.delivery.held_by ?? null, about)
    }
    const { answer } = await call(client, 'destination_health', { id: of.destinationId })
    const held = of.deliveries.filter(({ cause }) => cause !== null).length
    assert.deepEqual(
      [answer.health.backlog.held, answer.health.held_by?.cause ?? null],
      [held, held === 0 ? null : of.lane.cause],
      of.lane.name,
    )
  }
  await client.close()
})

test('customers see the cause of each delivery to their destination in the list and in its details', async () => {
  const portal = await aPortal(world)
  for (const of of all) {
    const guest = await aGuest(world, { portal: portal.id })
    const [customer = '', uuid = ''] = [decodeId('customer', guest.customer), decodeId('destination', of.destinationId)]
    await database.run(sql`update destinations set portal_customer_id = ${customer} where id = ${uuid}`)
    const { deliveries } = (await inPortal(world, guest, 'GET deliveries?limit=100')).body
    const rows = byId(deliveries)
    assert.equal(rows.size, of.deliveries.length, of.lane.name)
    for (const { id, case: one, cause } of of.deliveries) {
      const about = `${of.lane.name}: ${JSON.stringify(one)}`
      const { delivery } = (await inPortal(world, guest, `GET deliveries/${id}`)).body
      assert.deepEqual([delivery.status, delivery.held_by?.cause ?? null], [one.state, cause], about)
      assert.deepEqual(rows.get(id)?.held_by ?? null, delivery.held_by, about)
    }
  }
})
