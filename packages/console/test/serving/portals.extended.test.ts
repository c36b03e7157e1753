import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { World } from '../../../server/test/stage/harness.ts'
import { aWebhook, post } from '../../../server/test/stage/fixtures.ts'
import { aGuest, aPortal, deliveriesOf, inPortal, type Receiver } from '../../../server/test/stage/portal-stage.ts'
import { noBrowser, type Seen, type Stage } from '../stage/browser.ts'
import { comeBack, frameIn, onPortals, until } from '../stage/portal.ts'

/** The screen Portals of the console. */
let stage: Stage
let world: World
let receiver: Receiver
onPortals((made) => {
  ;({ stage, world, receiver } = made)
})

const open = async (seen: Seen, id: string, tab: string): Promise<void> => {
  await seen.page.goto(stage.url(`portals?sel=${id}&tab=${tab}`))
  await seen.page.getByRole('region', { name: 'Portal', exact: true }).waitFor()
}

test(
  'a person creates a portal and gives it looks, which the preview shows before they are saved',
  { skip: noBrowser },
  async () => {
    const seen = await stage.owner()
    const { page } = seen
    await page.goto(stage.url('portals'))
    await page.getByRole('heading', { name: 'No portals yet' }).waitFor()
    await page
      .getByRole('button', { name: /^New portal/ })
      .first()
      .click()
    await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('Shop webhooks')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByRole('tab', { name: 'Appearance', selected: true }).waitFor()
    const frame = await frameIn(page)
    await frame.getByText('Shop webhooks').first().waitFor()
    await page.getByLabel('Name', { exact: true }).fill('Acme Freight')
    await frame.getByText('Acme Freight').first().waitFor()
    await page.getByLabel('Accent', { exact: true }).fill('#ffd400')
    await page.getByText(/On light pages, links use/).waitFor()
    await page.getByText('Readable on dark pages as it is.').waitFor()
    await until(frame, "document.documentElement.style.getPropertyValue('--brand') === '#ffd400'")
    const shade = await page.getByRole('list', { name: 'Readable shades' }).locator('.mono').innerText()
    assert.equal(await frame.evaluate("document.documentElement.style.getPropertyValue('--accent')"), shade)
    await page.getByText('Dark', { exact: true }).last().click()
    await until(frame, "document.documentElement.dataset.theme === 'dark'")
    await page.getByText('Phone', { exact: true }).click()
    await until(page, "document.querySelector('iframe').style.width === '390px'")
    await frame.getByRole('link', { name: 'Add destination' }).click()
    await frame.getByRole('heading', { name: 'Add destination' }).waitFor()
    await seen.picture('console portals looks')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText(/^Saved/).waitFor()
    const [{ looks }] = (await world.admin('GET', 'portals')).body.portals
    assert.deepEqual([looks.name, looks.accent], ['Acme Freight', '#ffd400'])
    await seen.close()
  },
)

test(
  'the screen shows a link for a customer once; the link opens the portal as this customer, and ends when it is revoked',
  { skip: noBrowser },
  async () => {
    const { id } = await aPortal(world)
    const seen = await stage.owner('dark')
    const { page } = seen
    await open(seen, id, 'customers')
    await page.getByRole('heading', { name: 'No customers yet' }).waitFor()
    await page.getByRole('button', { name: 'Create first link' }).click()
    await page.getByLabel('Your ID for the customer').fill('acct_42')
    await page.getByLabel('Name', { exact: true }).fill('Northwind Traders')
    await page.getByLabel('Valid for').selectOption('7 days')
    await page.getByRole('button', { name: 'Create link' }).click()
    const url = await page.getByRole('group', { name: 'Link' }).locator('code').innerText()
    assert.match(url, new RegExp(`/portal/${id}#t=hpt_`))
    const {
      portal_tokens: [token],
    } = (await world.admin('GET', `portals/${id}/tokens`)).body
    assert.equal(Date.parse(token.expires_at) - Date.parse(token.created_at), 7 * 86_400_000)
    const [opened] = await Promise.all([
      page.context().waitForEvent('page'),
      page.getByRole('link', { name: 'Open as this customer' }).click(),
    ])
    await opened.getByText('Northwind Traders').waitFor()
    await page.getByRole('button', { name: 'Done' }).click()
    assert.equal(await page.getByText(url).count(), 0)
    await page.getByText('Northwind Traders').click()
    await page.getByRole('list', { name: 'Links' }).getByText(/^hpt_/).waitFor()
    await seen.picture('console portals customers')
    await page.getByRole('button', { name: 'Revoke…' }).click()
    await page.getByRole('button', { name: 'Revoke', exact: true }).click()
    await page.getByText('This customer has no links.').waitFor()
    await comeBack(opened)
    await opened.getByRole('heading', { name: 'This link has expired' }).waitFor()
    await page.getByRole('button', { name: 'Delete customer…' }).click()
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByRole('heading', { name: 'No customers yet' }).waitFor()
    await seen.close()
  },
)

test('a portal of one customer refuses a link for another, and names its customer', { skip: noBrowser }, async () => {
  const { id } = await aPortal(world, { serves: 'one_customer' })
  const seen = await stage.owner()
  const { page } = seen
  await open(seen, id, 'customers')
  await page.getByRole('button', { name: 'New customer' }).click()
  await page.getByLabel('Your ID for the customer').fill('acct_2')
  await aGuest(world, { portal: id, customerId: 'acct_1' })
  await page.getByRole('button', { name: 'Create link' }).click()
  await page
    .getByRole('alert')
    .getByText(/serves another customer/)
    .waitFor()
  await seen.close()
})

test(
  'the screen saves the settings, the origins of frames and the switch of a portal, and a viewer changes nothing',
  { skip: noBrowser },
  async () => {
    const { id, name } = await aPortal(world)
    const seen = await stage.owner()
    const { page } = seen
    await open(seen, id, 'embed')
    await page.getByLabel('Origins').fill('https://app.example.com/path')
    await page.getByText(/is not a valid origin/).waitFor()
    await page.getByLabel('Origins').fill('https://app.example.com')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText(/^Saved/).waitFor()
    await page.getByText(`<postroad-portal src="${world.baseUrl}/portal/${id}"`).waitFor()
    await open(seen, id, 'settings')
    await page.getByLabel('Name', { exact: true }).fill(`${name} two`)
    await page.getByText('Only selected', { exact: true }).click()
    await page.getByLabel('Datasets', { exact: true }).fill('orders')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('heading', { name: `${name} two` }).waitFor()
    await page.getByRole('button', { name: 'Turn off' }).click()
    await page.getByText('Turned off. Nobody can use the portal. Deliveries continue.').waitFor()
    const { portal } = (await world.admin('GET', `portals/${id}`)).body
    assert.deepEqual(
      [portal.enabled, portal.datasets, portal.frame_origins],
      [0, ['orders'], ['https://app.example.com']],
    )
    await seen.close()
    const viewer = await stage.member('viewer')
    await open(viewer, id, 'customers')
    assert.ok(await viewer.page.getByRole('button', { name: 'New customer' }).isDisabled())
    assert.ok(await viewer.page.getByRole('button', { name: 'Turn on' }).isDisabled())
    await viewer.close()
  },
)

test(
  'an endpoint whose events name a customer delivers them to the destinations of this customer',
  { skip: noBrowser },
  async () => {
    const { id: portal } = await aPortal(world)
    const guest = await aGuest(world, { portal, customerId: 'acct_77' })
    await inPortal(world, guest, 'POST destinations', { url: receiver.url })
    const { id, public_url } = await aWebhook(world, { name: 'Orders', dataset: 'customer_orders' })
    const seen = await stage.owner()
    const { page } = seen
    await page.goto(stage.url(`endpoints?sel=${id}&tab=routing`))
    await page.getByText('In the payload', { exact: true }).click()
    await page.getByText('Enter the payload field that contains the customer ID.').waitFor()
    await page.getByLabel('Payload field').fill('account.id')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText(/^Saved/).waitFor()
    await post(public_url, '{"account":{"id":"acct_77"},"total":1}')
    const [delivery] = await deliveriesOf(world, guest, { count: 1, status: ['delivered'] })
    assert.equal(delivery.dataset, 'customer_orders')
    await seen.close()
  },
)
