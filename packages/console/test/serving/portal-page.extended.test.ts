import assert from 'node:assert/strict'
import { test } from 'node:test'
import { reinstateWorkspace, suspendWorkspace } from '../../../server/src/resources/workspace/workspaces/index.ts'
import { aName } from '../../../server/test/stage/fixtures.ts'
import type { World } from '../../../server/test/stage/harness.ts'
import {
  aCustomersWebhook,
  deliveriesOf,
  inPortal,
  type Guest,
  type Receiver,
} from '../../../server/test/stage/portal-stage.ts'
import { CORPUS, noBrowser, type Stage } from '../stage/browser.ts'
import { entered, inANewPortal, onPortals, viewOf } from '../stage/portal.ts'

/** Tests of the page of a portal, as a customer uses it. */
let stage: Stage
let world: World
let receiver: Receiver
onPortals((made) => {
  ;({ stage, world, receiver } = made)
})

/** A dataset, a customer of a portal that exposes it, and a way to send events for them. */
async function scene(members: Record<string, unknown> = {}) {
  const dataset = `orders_${aName('d').replaceAll(/\W/g, '')}`
  const guest = await inANewPortal(world, { event_types: [dataset], ...members })
  const send = await aCustomersWebhook(world, dataset)
  return { dataset, guest, send: () => send(guest.customerId) }
}

const aDestination = async (guest: Guest, url = receiver.url): Promise<{ readonly id: string }> =>
  (await inPortal(world, guest, 'POST destinations', { url })).body.destination

test(
  'a customer adds a destination, receives an event, sees that it failed and why, and retries it',
  { skip: noBrowser },
  async () => {
    const { guest, send, dataset } = await scene()
    receiver.answer({ status: 410, body: 'The ledger is down' })
    const seen = await entered(stage, guest)
    const { page } = seen
    await page.getByRole('heading', { name: 'No destinations yet' }).waitFor()
    await page.getByRole('link', { name: 'Add destination' }).click()
    await page.getByRole('button', { name: 'Add destination' }).click()
    await page.getByText('Enter the URL that should receive the events.').waitFor()
    await page.getByLabel('URL').fill('http://example.com/hooks')
    await page.getByText('The URL must start with https://').waitFor()
    await page.getByLabel('URL').fill(receiver.url)
    await page.getByLabel('Description').fill('Ledger')
    await page.getByLabel('Only selected event types').check()
    await page.getByLabel(dataset).check()
    await page.getByRole('button', { name: 'Add destination' }).click()
    await page.getByRole('heading', { name: 'The destination is ready' }).waitFor()
    const secret = await page
      .getByRole('group', { name: 'Signing secret' })
      .getByText(/^whsec_/)
      .innerText()
    await page.getByRole('link', { name: 'Open the destination' }).click()
    await page.getByText('Nothing has been sent to this destination yet.').waitFor()
    assert.equal(await page.getByText(secret).count(), 0, 'the secret is shown once')
    await send()
    await deliveriesOf(world, guest, { count: 1, status: ['paused', 'failed', 'retrying'] })
    await page.getByRole('link', { name: 'Deliveries' }).first().click()
    const row = page.getByRole('list', { name: 'Deliveries' }).getByRole('link').first()
    await row.getByText('410').waitFor()
    await row.click()
    await page.getByText('The ledger is down').waitFor()
    await page.getByText('The request', { exact: true }).click()
    await page.getByText(`POST ${receiver.url}`).waitFor()
    await page.getByRole('region', { name: 'Request body' }).getByText('"n":1').waitFor()
    await page.getByRole('button', { name: 'Copy the response body' }).click()
    assert.equal(await seen.copied(), 'The ledger is down')
    receiver.answer({ status: 200, body: 'ok' })
    await page.getByRole('link', { name: receiver.url }).click()
    await page.getByText('Your server returned 410 Gone').first().waitFor()
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.getByRole('button', { name: 'Pause' }).waitFor()
    await deliveriesOf(world, guest, { count: 1, status: ['delivered'] })
    await page.getByRole('region', { name: 'Recent deliveries' }).getByText('delivered · 200').waitFor()
    await page.getByRole('region', { name: 'Recent deliveries' }).getByRole('link', { name: dataset }).click()
    const before = receiver.received.length
    await page.getByRole('button', { name: 'Send again' }).click()
    await page.getByText('The delivery is being sent again.').waitFor()
    await page.getByText('sent again', { exact: true }).waitFor()
    assert.equal(receiver.received.length, before + 1)
    await seen.close()
  },
)

test('a customer retries a failed delivery from the page', { skip: noBrowser }, async () => {
  const { guest, send } = await scene()
  await aDestination(guest)
  receiver.answer({ status: 503, body: 'later' })
  await send()
  await deliveriesOf(world, guest, { count: 1, status: ['retrying'] })
  const seen = await entered(stage, guest)
  const { page } = seen
  await page.goto(viewOf(world, guest, '?view=deliveries&status=retrying'))
  await page.getByRole('list', { name: 'Deliveries' }).getByRole('link').first().click()
  await page.getByText(/The next attempt is/).waitFor()
  receiver.answer({ status: 200 })
  await page.getByRole('button', { name: 'Retry now' }).click()
  await deliveriesOf(world, guest, { count: 1, status: ['delivered'] })
  await page.getByText('retried by a person').waitFor()
  await seen.close()
})

test('a customer tests a destination, edits it, rotates its secret and deletes it', { skip: noBrowser }, async () => {
  const { guest } = await scene()
  await aDestination(guest)
  receiver.answer({ status: 202, body: '{"seen":true}' })
  const seen = await entered(stage, guest)
  const { page } = seen
  await page.getByRole('link', { name: receiver.url }).click()
  await page.getByRole('button', { name: 'Send test' }).click()
  await page.getByText('Your server accepted the test with 202').waitFor()
  await page.getByText('{"seen":true}').waitFor()
  await page.getByRole('button', { name: 'Edit' }).click()
  await page.getByLabel('Description').fill('Warehouse')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Warehouse').waitFor()
  await page.getByRole('button', { name: 'Replace secret…' }).click()
  await page.getByRole('button', { name: 'Replace secret', exact: true }).click()
  await page
    .getByRole('group', { name: 'Signing secret' })
    .getByText(/^whsec_/)
    .waitFor()
  await page.getByText(/The old secret also signs and expires/).waitFor()
  await page.getByRole('button', { name: 'Replace secret…' }).click()
  await page.getByRole('button', { name: 'Replace secret', exact: true }).click()
  await page.getByRole('button', { name: 'End overlap and replace' }).click()
  await page.getByRole('group', { name: 'Signing secret' }).waitFor()
  await page.getByRole('button', { name: 'Delete…' }).click()
  await page.getByRole('button', { name: 'Delete destination' }).click()
  await page.getByRole('heading', { name: 'No destinations yet' }).waitFor()
  await seen.close()
})

test('with the keyboard alone a customer adds a destination and reads about it', { skip: noBrowser }, async () => {
  const { guest } = await scene()
  const seen = await entered(stage, guest)
  const { page } = seen
  const tabTo = async (name: string): Promise<void> => {
    for (let step = 0; step < 40; step += 1) {
      const at = await page.evaluate(
        "(document.activeElement?.getAttribute('aria-label') ?? '') + (document.activeElement?.labels?.[0]?.textContent ?? document.activeElement?.textContent ?? '')",
      )
      if (String(at).startsWith(name)) return
      await page.keyboard.press('Tab')
    }
    assert.fail(`Tab never reaches ${name}`)
  }
  await tabTo('Add destination')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Add destination' }).waitFor()
  assert.equal(await page.evaluate('document.activeElement.tagName'), 'H1', 'a reader of the screen hears the new view')
  await tabTo('URL')
  await page.keyboard.type(receiver.url)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'The destination is ready' }).waitFor()
  await tabTo('Open the destination')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: receiver.url }).waitFor()
  await tabTo('Delete…')
  await page.keyboard.press('Enter')
  assert.equal(await page.evaluate('document.activeElement.textContent'), 'Cancel', 'the question has the focus')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Delete…' }).waitFor()
  await seen.close()
})

test(
  'while the workspace is suspended the page says so, shows the data, and offers no change',
  { skip: noBrowser },
  async () => {
    const { guest } = await scene()
    await aDestination(guest)
    const { deps } = world.app
    const { slug } = world.installed.workspace
    await suspendWorkspace(deps, { slug, reason: 'An example' })
    try {
      const seen = await entered(stage, guest)
      const { page } = seen
      await page.getByText(/The sender is suspended./).waitFor()
      assert.equal(await page.getByRole('link', { name: 'Add destination' }).count(), 0)
      await page.getByRole('link', { name: receiver.url }).click()
      assert.ok(await page.getByRole('button', { name: 'Pause' }).isDisabled())
      await seen.close()
    } finally {
      await reinstateWorkspace(deps, { slug })
    }
  },
)

test(
  'without a connection the page says so, continues to show its data, and recovers by itself',
  { skip: noBrowser },
  async () => {
    const { guest } = await scene()
    await aDestination(guest)
    const seen = await entered(stage, guest)
    const { page } = seen
    await page.getByRole('link', { name: receiver.url }).waitFor()
    await page.context().setOffline(true)
    await page.getByText(/You are offline/).waitFor()
    await page.getByRole('link', { name: receiver.url }).click()
    assert.ok(await page.getByRole('button', { name: 'Pause' }).isDisabled())
    await page.context().setOffline(false)
    await page.getByText(/You are offline/).waitFor({ state: 'detached' })
    assert.ok(await page.getByRole('button', { name: 'Pause' }).isEnabled())
    await seen.close()
  },
)

test(
  'no text of the company, of a customer, of an event or of a receiver runs as a script',
  { skip: noBrowser },
  async () => {
    for (const evil of CORPUS) {
      const { guest, send } = await scene({
        name: evil,
        branding: {
          name: evil,
          logo: `data:image/svg+xml;base64,${btoa(`<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(1)</script></svg>`)}`,
        },
      })
      await world.admin('PATCH', `portals/${guest.portal}/customers/${guest.customer}`, { name: evil })
      const { id } = await aDestination(guest)
      await inPortal(world, guest, `PUT destinations/${id}`, { description: evil })
      receiver.answer({ status: 500, headers: { 'x-evil': evil.replaceAll(/[^\x20-\x7e]/g, '') }, body: evil })
      await send()
      const [delivery] = await deliveriesOf(world, guest, { count: 1, status: ['retrying'] })
      const seen = await entered(stage, guest)
      const { page } = seen
      await page.getByText(evil).first().waitFor()
      await page.getByRole('link', { name: receiver.url }).click()
      await page.getByText(evil).nth(1).waitFor()
      await page.goto(viewOf(world, guest, `?view=deliveries&id=${delivery.id}`))
      await page.getByText('Response headers').click()
      await page.getByRole('region', { name: 'Response body' }).getByText(evil).waitFor()
      for (const name of ['view', 'id', 'status', 'destination'])
        await page.goto(
          viewOf(world, guest, `?${new URLSearchParams({ view: 'deliveries', [name]: evil }).toString()}`),
        )
      await page.getByRole('navigation', { name: 'Main' }).waitFor()
      await seen.close()
    }
  },
)

test('the page refuses links and pictures of the branding that are not https', { skip: noBrowser }, async () => {
  for (const branding of [
    { support_url: 'javascript:alert(1)' },
    { return_url: 'data:text/html,<script>alert(1)</script>' },
    { logo: 'data:text/html;base64,PHNjcmlwdD4=' },
    { accent: 'red;background:url(//evil)' },
  ])
    assert.equal(
      (await world.admin('POST', 'portals', { name: 'evil', branding })).status,
      400,
      JSON.stringify(branding),
    )
})
