import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { aDestination, anIngestKey, aRule, aWebhook, post } from '../../../server/test/stage/fixtures.ts'
import { aSink, eventually, type Sink } from '../../../server/test/stage/harness.ts'
import { aStage, noBrowser, type Stage, type Theme } from './browser.ts'
import { MORE_PLACES, openPlace, PLACES, type Place, type Scene } from './places.ts'

type Made = { readonly stage: Stage; readonly bad: Sink; readonly recordId: string }

let stage: Stage
let good: Sink
let bad: Sink
let scene: Scene

/** All tests of a file look at this: an event that one destination took, one refused, and one did not want. */
export function onScreens(prepare: (made: Made) => void): void {
  before(() => makeAll(prepare))
  after(async () => {
    await stage?.stop()
    await good?.stop()
    await bad?.stop()
  })
}

async function makeAll(prepare: (made: Made) => void): Promise<void> {
  if (noBrowser !== false) return
  stage = await aStage()
  good = await aSink()
  bad = await aSink()
  bad.answer({ status: 500, body: 'no' })
  const { world } = stage
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
  const { id: ingestKeyId } = await anIngestKey(world, { name: 'checkout' })
  const { project } = (await world.admin('POST', 'projects', { name: 'Fresh' })).body
  await world.admin('POST', `projects/${project.id}/webhooks`, { name: 'First' })
  const signed = await aWebhook(world, { name: 'Signed', verification: { scheme: 'code_host', secret: 'a secret' } })
  await post(signed.public_url, '{}')
  await eventually(async () => {
    world.clock.advance(1_000)
    return (await world.admin('GET', 'rejections')).body.rejections[0]
  })
  const send = async (total: number): Promise<string> =>
    (await post(world.endpoint, JSON.stringify({ type: 'order.created', total, items: [{ sku: 'a' }], note: null })))
      .body.records[0].id
  // Another one, to compare with.
  await send(5)
  const recordId = await send(42.5)
  await Promise.all([good.until(2), bad.until(1)])
  await eventually(async () =>
    (await world.admin('GET', `deliveries?record_id=${recordId}`)).body.deliveries.every((one: { state: string }) =>
      ['delivered', 'failed'].includes(one.state),
    )
      ? true
      : undefined,
  )
  scene = {
    event: { id: recordId, title: 'order.created' },
    healthy,
    failing,
    endpointId: signed.id,
    ingestKeyId,
    ruleId: rule.id,
    fresh: project.slug,
  }
  prepare({ stage, bad, recordId })
}

/** The places of daily work, or the others, in one theme. */
export function testScreens(theme: Theme, places: 'daily' | 'other' = 'daily'): void {
  describe(
    `${theme}, ${places} places: nothing is an obstacle to anybody, and the policy refuses nothing`,
    { skip: noBrowser },
    () => {
      for (const place of places === 'daily' ? PLACES : MORE_PLACES) test(place.name, () => testPlace(place, theme))
    },
  )
}

async function testPlace(place: Place, theme: Theme): Promise<void> {
  const seen = await stage.owner(theme)
  await openPlace({ seen, stage, scene }, place, (state) => seen.accessible(`${place.name} ${state}`))
  assert.equal(await seen.page.evaluate('document.documentElement.dataset.theme'), theme)
  await seen.close()
}
