import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventually, type World } from '../../../server/test/stage/harness.ts'
import { aGuest, aPortal } from '../../../server/test/stage/portal-stage.ts'
import { noBrowser, type Stage } from '../stage/browser.ts'
import { frameIn, inANewPortal, onPortals, portalCookie, viewOf, type Host, until } from '../stage/portal.ts'

/** `<postroad-portal>` in a page of another site. */
let stage: Stage
let world: World
let host: Host
onPortals((made) => {
  ;({ stage, world, host } = made)
})

const element = (portal: string, attributes = 'token-url="/portal-token"'): string =>
  `<script type="module" src="${world.baseUrl}/portal/embed.js"></script>
   <postroad-portal src="${viewOf(world, { portal })}" ${attributes}></postroad-portal>`

test(
  'the element fetches a token from the product, opens the portal with it, and no address or attribute ever contains it',
  { skip: noBrowser },
  async () => {
    const guest = await inANewPortal(world, { frame_origins: [host.origin] })
    host.token = guest.token
    host.body = element(guest.portal)
    host.asked.length = 0
    const seen = await stage.stranger()
    const { page } = seen
    const urls: string[] = []
    page.on('request', (request) => urls.push(request.url()))
    await page.goto(host.origin)
    const frame = await frameIn(page)
    await frame.getByText(`The ${guest.customerId}`).waitFor()
    assert.equal(host.asked.filter((line) => line === 'POST /portal-token').length, 1)
    assert.equal(urls.filter((url) => url.includes(guest.token)).length, 0)
    const dom = await page.evaluate(
      "document.documentElement.outerHTML + document.querySelector('postroad-portal').shadowRoot.innerHTML",
    )
    assert.ok(!String(dom).includes(guest.token))
    assert.equal((await portalCookie(page.context()))?.partitionKey, 'http://localhost')
    await seen.close()
  },
)

test('the frame is as high as its content, and follows the theme of the element', { skip: noBrowser }, async () => {
  const guest = await inANewPortal(world, { frame_origins: [host.origin] })
  host.token = guest.token
  host.body = element(guest.portal, 'token-url="/portal-token" theme="dark"')
  const seen = await stage.stranger('light')
  const { page } = seen
  await page.goto(host.origin)
  const frame = await frameIn(page)
  await frame.getByRole('link', { name: 'Add destination' }).click()
  await frame.getByRole('heading', { name: 'Add destination' }).waitFor()
  await until(
    page,
    "(() => { const f = document.querySelector('postroad-portal').shadowRoot.querySelector('iframe'); return f.clientHeight > 520 && f.clientHeight < 1200 })()",
  )
  const heights = await frame.evaluate('[document.documentElement.scrollHeight, innerHeight]')
  assert.ok(Array.isArray(heights) && heights[0] <= heights[1], `no scroll bar in the frame: ${String(heights)}`)
  assert.equal(await frame.evaluate('document.documentElement.dataset.theme'), 'dark')
  await page.evaluate("document.querySelector('postroad-portal').setAttribute('theme', 'light')")
  await until(frame, "document.documentElement.dataset.theme === 'light'")
  assert.equal(await frame.getByRole('combobox', { name: 'Theme' }).count(), 0, 'the page around decides')
  await seen.close()
})

test('another person in the same browser never sees the session of the previous one', { skip: noBrowser }, async () => {
  const portal = (await aPortal(world, { frame_origins: [host.origin] })).id
  const [one, two] = [await aGuest(world, { portal }), await aGuest(world, { portal })]
  host.token = one.token
  host.body = element(portal)
  const seen = await stage.stranger()
  const { page } = seen
  await page.goto(host.origin)
  await (await frameIn(page)).getByText(`The ${one.customerId}`).waitFor()
  host.token = two.token
  await page.reload()
  const frame = await frameIn(page)
  await frame.getByText(`The ${two.customerId}`).waitFor()
  assert.equal(await frame.getByText(`The ${one.customerId}`).count(), 0)
  host.token = one.token
  await page.evaluate("document.querySelector('postroad-portal').refresh()")
  await frame.getByText(`The ${one.customerId}`).waitFor()
  await seen.close()
})

test('the element renews an access that ends, and the customer stays signed in', { skip: noBrowser }, async () => {
  const portal = (await aPortal(world, { frame_origins: [host.origin] })).id
  const guest = await aGuest(world, { portal })
  host.token = guest.token
  host.body = element(portal)
  const seen = await stage.stranger()
  const { page } = seen
  await page.goto(host.origin)
  const frame = await frameIn(page)
  await frame.getByText(`The ${guest.customerId}`).waitFor()
  host.token = (await aGuest(world, { portal, customerId: guest.customerId })).token
  await world.admin('DELETE', `portals/${portal}/tokens/${guest.tokenId}`)
  await frame.getByRole('link', { name: 'Event types' }).click()
  await frame.getByRole('heading', { name: 'Event types', exact: true }).waitFor()
  await frame.getByText(`The ${guest.customerId}`).waitFor()
  assert.equal(host.asked.filter((line) => line === 'POST /portal-token').length >= 2, true)
  await seen.close()
})

test(
  'the page asks for a new token two minutes before the access ends, and the customer notices nothing',
  { skip: noBrowser },
  async () => {
    const portal = (await aPortal(world, { frame_origins: [host.origin] })).id
    const guest = await aGuest(world, { portal, expires_in: 900 })
    host.token = guest.token
    host.body = element(portal)
    host.asked.length = 0
    const seen = await stage.stranger()
    const { page } = seen
    await page.goto(host.origin)
    const frame = await frameIn(page)
    await frame.getByRole('link', { name: 'Add destination' }).click()
    await frame.getByLabel('URL').fill('https://half-typed.example.com')
    host.token = (await aGuest(world, { portal, customerId: guest.customerId })).token
    await page.clock.fastForward(785_000)
    await eventually('the page asks for a second token', () =>
      Promise.resolve(host.asked.filter((line) => line === 'POST /portal-token').length === 2 ? true : undefined),
    )
    await eventually('the cookie is valid for longer', async () => {
      const cookie = await portalCookie(page.context())
      return cookie !== undefined && cookie.expires * 1_000 > Date.now() + 3_600_000 ? true : undefined
    })
    assert.equal(await frame.getByLabel('URL').inputValue(), 'https://half-typed.example.com')
    await seen.close()
  },
)

test('a renewal that fails leaves the page and its edits as they are', { skip: noBrowser }, async () => {
  const portal = (await aPortal(world, { frame_origins: [host.origin] })).id
  host.token = (await aGuest(world, { portal })).token
  host.body = element(portal)
  const seen = await stage.stranger()
  const { page } = seen
  await page.goto(host.origin)
  const frame = await frameIn(page)
  await frame.getByRole('link', { name: 'Add destination' }).click()
  await frame.getByLabel('URL').fill('https://half-typed.example.com')
  await page.route('**/portal/api/session', (route) => route.fulfill({ status: 503, json: { error: 'Not now.' } }))
  const [answer] = await Promise.all([
    page.waitForResponse('**/portal/api/session'),
    page.evaluate("document.querySelector('postroad-portal').refresh()"),
  ])
  await answer.finished()
  await frame.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
  assert.equal(await frame.getByLabel('URL').inputValue(), 'https://half-typed.example.com')
  await seen.close()
})

test(
  'a person whom the product does not know sees a sentence, and the product gets an event',
  { skip: noBrowser },
  async () => {
    const guest = await inANewPortal(world, { frame_origins: [host.origin] })
    host.token = undefined
    host.body = `<script>addEventListener('portal-error', (event) => { document.title = String(event.detail.error) }, true)</script>${element(guest.portal)}`
    const { page } = await stage.stranger()
    await page.goto(host.origin)
    await (
      await frameIn(page)
    )
      .getByRole('heading', { name: 'Open this page from the product that you came from' })
      .waitFor()
    await until(page, "document.title.includes('returned 401')")
    await page.context().close()
  },
)

test('every origin can load the script, and only the console can load the preview', { skip: noBrowser }, async () => {
  const script = await fetch(`${world.baseUrl}/portal/embed.js`)
  assert.equal(script.status, 200)
  assert.match(script.headers.get('content-type') ?? '', /^text\/javascript/)
  assert.deepEqual(
    ['access-control-allow-origin', 'cross-origin-resource-policy', 'cache-control', 'x-content-type-options'].map(
      (name) => script.headers.get(name),
    ),
    ['*', 'cross-origin', 'public, max-age=3600', 'nosniff'],
  )
  assert.doesNotMatch(await script.text(), /^import|\bimport\(/m)
  for (const file of ['portal.html', 'portal-embed.js'])
    assert.equal((await fetch(`${world.baseUrl}/assets/${file}`)).status, 404, file)
  const preview = await fetch(`${world.baseUrl}/portal/preview`)
  assert.equal(preview.status, 200)
  assert.match(preview.headers.get('content-security-policy') ?? '', /frame-ancestors 'self'$/)
})
