import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { decodeId } from '@postroad/contract'
import { sql } from '../../src/platform/db.ts'
import { aDestination, aName, behind } from '../stage/fixtures.ts'
import type { World } from '../stage/harness.ts'
import { aGuest, aPortal, aPortalStage, deliveriesOf, inPortal, type PortalStage } from '../stage/portal-stage.ts'

let stage: PortalStage
let world: World
before(async () => {
  stage = await aPortalStage()
  ;({ world } = stage)
})
after(() => stage.stop())

const FAILING = JSON.stringify({
  breaker_resets: 0,
  rate: null,
  breaker: { state: 'closed', failures_in_row: 9, failing_ms: 900_000, opened_ms: null, probe_in_ms: null, counts: [] },
})

test('an alert about a destination of a customer reaches the endpoints of this customer that name postroad, and shows nothing else of the project', async () => {
  const { receiver } = stage
  const database = behind(world)
  const portal = (await aPortal(world)).id
  const [acme, globex] = [await aGuest(world, { portal }), await aGuest(world, { portal })]
  const make = async (guest: typeof acme, event_types: readonly string[] | null): Promise<string> => {
    const url = `${receiver.url}${aName('in').replaceAll(' ', '-')}`
    const { status, body } = await inPortal(world, guest, 'POST destinations', { url, event_types })
    assert.equal(status, 201, JSON.stringify(body))
    return body.destination.id
  }
  const [failing, told] = [await make(acme, ['nothing']), await make(acme, ['postroad'])]
  await make(acme, null)
  await make(globex, ['postroad'])
  const { destination: own } = await aDestination(world, { url: `${receiver.url}own`, datasets: ['nothing'] })
  const at = new Date(world.clock.now())
  for (const id of [failing, own.id])
    await database.run(
      sql`update lanes set memory = ${FAILING}::json, remembered_at = ${at} where destination_id = ${decodeId('destination', id) ?? ''}`,
    )
  await world.run('alerts.watch')
  const deliveries = await deliveriesOf(world, acme, { count: 1, status: ['delivered'] })
  assert.deepEqual(
    deliveries.map((one: { dataset: string; destination_id: string }) => [one.dataset, one.destination_id]),
    [['postroad', told]],
    'only the alert about the destination of the customer, and only where the dataset is named',
  )
  assert.deepEqual((await inPortal(world, globex, 'GET deliveries')).body.deliveries, [])
  const sent = receiver.received.at(-1)?.body ?? assert.fail('Nothing came.')
  const { data } = JSON.parse(sent)
  assert.deepEqual([data.type, data.subject.id, data.link], ['destination.failing', failing, null])
  const { workspace, project } = world.installed
  for (const secret of [workspace.slug, project.id, workspace.id, own.id]) assert.ok(!sent.includes(secret), secret)
  await database.close()
})
