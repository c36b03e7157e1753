import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Answer } from '../stage/harness.ts'
import { aGuest, aPortal, aPortalStage, inPortal, type Guest, type PortalStage } from '../stage/portal-stage.ts'

/** Destinations of customers that were deleted, and their restore. */
let stage: PortalStage

before(async () => {
  stage = await aPortalStage()
})
after(() => stage.stop())

async function aDeletedDestination(): Promise<{ guest: Guest; id: string; deletion: string }> {
  const { world, receiver } = stage
  const guest = await aGuest(world, { portal: (await aPortal(world)).id })
  const made = await inPortal(world, guest, 'POST destinations', { url: receiver.url })
  assert.equal(made.status, 201, JSON.stringify(made.body))
  const { id } = made.body.destination
  const removed = await inPortal(world, guest, `DELETE destinations/${id}`)
  assert.deepEqual([removed.status, removed.body], [200, { ok: true }])
  const { deletions } = (await world.admin('GET', 'deletions')).body
  return { guest, id, deletion: deletions.find((one: { resource_id: string }) => one.resource_id === id).id }
}

const restore = (deletion: string): Promise<Answer> => stage.world.admin('POST', `deletions/${deletion}/restore`)

test('a restored destination belongs to its customer again', async () => {
  const { guest, id, deletion } = await aDeletedDestination()
  const { status, body } = await restore(deletion)
  assert.equal(status, 200, JSON.stringify(body))
  const { destinations } = (await inPortal(stage.world, guest, 'GET destinations')).body
  assert.deepEqual(
    destinations.map((destination: { id: string }) => destination.id),
    [id],
  )
})

test('a destination whose customer was deleted too is not restored, and the answer gives the cause', async () => {
  const { guest, deletion } = await aDeletedDestination()
  const removed = await stage.world.admin('DELETE', `portals/${guest.portal}/customers/${guest.customer}`)
  assert.equal(removed.status, 200, JSON.stringify(removed.body))
  const { status, body } = await restore(deletion)
  assert.deepEqual([status, body.reason], [409, 'invalid_state'])
  assert.equal(body.error, 'The customer of this destination was deleted too, so it cannot be restored.')
})
