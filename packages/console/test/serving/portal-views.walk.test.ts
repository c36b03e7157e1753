import assert from 'node:assert/strict'
import { test } from 'node:test'
import { reinstateWorkspace, suspendWorkspace } from '../../../server/src/resources/workspace/workspaces/index.ts'
import { inEighth } from '../../../server/test/stage/eighths.ts'
import type { World } from '../../../server/test/stage/harness.ts'
import { aCustomersWebhook, deliveriesOf, inPortal, type Receiver } from '../../../server/test/stage/portal-stage.ts'
import { noBrowser, type Stage } from '../stage/browser.ts'
import { entered, inANewPortal, onPortals, viewOf } from '../stage/portal.ts'

/** Every view of the page of a portal. The colors of each theme are those of a brand. */
let stage: Stage
let world: World
let receiver: Receiver
onPortals((made) => {
  ;({ stage, world, receiver } = made)
})

const DATASET = 'orders_of_the_walk'

/** A customer of a portal in the colors of a brand, with a destination and a delivery that waits for its next attempt. */
async function aCustomer(accent: string) {
  const guest = await inANewPortal(world, {
    event_types: [DATASET],
    branding: { name: 'Acme Freight', accent, support_url: 'mailto:help@example.com' },
  })
  const { id } = (await inPortal(world, guest, 'POST destinations', { url: receiver.url })).body.destination
  receiver.answer({ status: 500, body: '{"error":"down"}' })
  await (
    await aCustomersWebhook(world, DATASET)
  )(guest.customerId)
  const [delivery] = await deliveriesOf(world, guest, { count: 1, status: ['retrying'] })
  return { guest, id, deliveryId: delivery.id }
}

for (const { theme, accent, widths } of [
  { theme: 'light', accent: '#ffd400', widths: [1_440, 390] },
  { theme: 'dark', accent: '#1b2a6b', widths: [1_440] },
] as const)
  test(
    `${theme}: every view is accessible to everyone at ${widths.join(' and ')} px`,
    { skip: noBrowser },
    async () => {
      const { guest, id, deliveryId } = await aCustomer(accent)
      const seen = await entered(stage, guest, theme)
      const { page } = seen
      for (const [search, heading] of inEighth([
        ['', 'Destinations'],
        ['?view=new', 'Add destination'],
        [`?view=destination&id=${id}`, receiver.url],
        ['?view=destination&id=dst_nothing', 'Destination'],
        ['?view=deliveries', 'Deliveries'],
        ['?view=deliveries&status=cancelled', 'Deliveries'],
        [`?view=deliveries&id=${deliveryId}`, /orders_/],
        ['?view=deliveries&id=dlv_nothing', 'Delivery'],
        ['?view=event-types', 'Event types'],
      ] as const)) {
        await page.goto(viewOf(world, guest, search))
        await page.getByRole('heading', { name: heading, level: 1 }).waitFor()
        await page.getByRole('status', { name: 'Loading' }).waitFor({ state: 'detached' })
        for (const width of widths) {
          await page.setViewportSize({ width, height: 900 })
          await seen.accessible(`${search} at ${width} px`)
          assert.equal(
            await page.evaluate('document.documentElement.scrollWidth <= innerWidth'),
            true,
            `${search} needs no sideways scrolling at ${width} px`,
          )
          await seen.picture(`portal ${search.replaceAll(/\W+/g, '-')} ${width} ${theme}`)
        }
      }
      await seen.close()
    },
  )

test('a portal of a suspended workspace is accessible', { skip: noBrowser }, async () => {
  const { guest } = await aCustomer('#1b2a6b')
  const { deps } = world.app
  const { slug } = world.installed.workspace
  await suspendWorkspace(deps, { slug, reason: 'An example' })
  try {
    const seen = await entered(stage, guest)
    await seen.page.getByRole('link', { name: receiver.url }).click()
    await seen.page.getByText(/The sender is suspended./).waitFor()
    await seen.accessible('suspended')
    await seen.close()
  } finally {
    await reinstateWorkspace(deps, { slug })
  }
})

test('the ends of a way into a portal are accessible', { skip: noBrowser }, async () => {
  const seen = await stage.stranger('dark')
  const { page } = seen
  await page.goto(`${world.baseUrl}/portal/prt_01kaq000000000000000000000`)
  await page.getByRole('heading', { name: 'There is no page at this address' }).waitFor()
  await seen.accessible('an unknown portal')
  await page.goto(`${viewOf(world, await inANewPortal(world))}#t=hpt_${'x'.repeat(43)}`)
  await page.getByRole('heading', { name: 'This link has expired' }).waitFor()
  await seen.accessible('a link that has ended')
  await seen.close()
})
