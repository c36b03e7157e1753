import { aDestination, anIngestKey, aRule, aWebhook, behind, post } from '../../../server/test/stage/fixtures.ts'
import { aSink, eventually, type Sink } from '../../../server/test/stage/harness.ts'
import { aGuest, aPortal } from '../../../server/test/stage/portal-stage.ts'
import { automationScene } from './automation-scene.ts'
import type { Stage } from './browser.ts'
import type { Scene } from './place.ts'
import { anOperator } from './settings.ts'

export type Made = { readonly scene: Scene; readonly bad: Sink; stop(): Promise<void> }

/** A project with one of each thing, and an event that one destination took, one refused, and one did not want. Its owner is an operator. */
export async function aScene({ world }: Stage): Promise<Made> {
  const database = behind(world)
  await anOperator(database)
  await database.close()
  const [good, bad] = [await aSink(), await aSink()]
  bad.answer({ status: 500, body: 'no' })
  const { destination: healthy } = await aDestination(world, { name: 'ledger', url: good.url })
  const { destination: failing } = await aDestination(world, {
    name: 'fraud',
    url: bad.url,
    conditions: [{ path: 'total', op: 'gt', value: 10 }],
    retry: { schedule_seconds: [0] },
  })
  await aDestination(world, {
    name: 'whales',
    url: good.url,
    conditions: [{ path: 'total', op: 'gt', value: 1_000_000 }],
  })
  const rule = await aRule(world, { name: 'big orders' })
  const { transform } = (
    await world.admin('POST', 'transforms', { name: 'To text', code: 'const transform = (event) => event' })
  ).body
  const { id: ingestKeyId } = await anIngestKey(world, { name: 'checkout' })
  const { id: portalId } = await aPortal(world, { name: 'Customer webhooks' })
  await aGuest(world, { portal: portalId, customerId: 'acct_42' })
  const { project } = (await world.admin('POST', 'projects', { name: 'Fresh' })).body
  await world.admin('POST', `projects/${project.id}/webhooks`, { name: 'First' })
  const signed = await aWebhook(world, { name: 'Signed', verification: { scheme: 'code_host', secret: 'a secret' } })
  await post(signed.public_url, '{}')
  await eventually('the server writes the refusal', async () => {
    world.clock.advance(1_000)
    return (await world.admin('GET', 'rejections')).body.rejections[0]
  })
  const send = async (total: number): Promise<string> =>
    (await post(world.endpoint, JSON.stringify({ type: 'order.created', total, items: [{ sku: 'a' }], note: null })))
      .body.records[0].id
  // A second event, for comparisons.
  await send(5)
  const recordId = await send(42.5)
  await world.idle()
  const scene: Scene = {
    event: { id: recordId, title: 'order.created' },
    healthy,
    failing,
    endpointId: signed.id,
    ingestKeyId,
    ruleId: rule.id,
    transformId: transform.id,
    portalId,
    fresh: project.slug,
    automation: await automationScene({
      world,
      recordId,
      destinationId: healthy.id,
      dataset: (await world.admin('GET', `records/${recordId}`)).body.record.dataset,
    }),
  }
  return {
    scene,
    bad,
    stop: async () => {
      await good.stop()
      await bad.stop()
    },
  }
}
