import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LIMITS } from '@postroad/contract'
import type { World } from '../../../server/test/stage/harness.ts'
import { aGuest, aPortal } from '../../../server/test/stage/portal-stage.ts'
import { noBrowser, type Stage } from '../stage/browser.ts'
import {
  comeBack,
  entered,
  frameIn,
  inANewPortal,
  onPortals,
  portalCookie,
  viewOf,
  type Host,
  until,
} from '../stage/portal.ts'

/** The way into a portal and out of it, in a browser: the token, the rules of the cookie, and frames of other sites. */
let stage: Stage
let world: World
let host: Host
onPortals((made) => {
  ;({ stage, world, host } = made)
})

test(
  'the page removes the token from the address before it loads anything else, and never sends it in a URL',
  { skip: noBrowser },
  async () => {
    const guest = await inANewPortal(world)
    const seen = await stage.stranger()
    const { page } = seen
    const urls: string[] = []
    page.on('request', (request) => urls.push(request.url()))
    const held = Promise.withResolvers<void>()
    await page.route('**/assets/**', async (route) => {
      await held.promise
      await route.continue()
    })
    await page.goto(guest.url, { waitUntil: 'commit' })
    await until(page, "document.querySelector('#root') !== null")
    assert.equal(page.url(), viewOf(world, guest), 'no script of the page is loaded yet')
    held.resolve()
    await page.getByRole('navigation', { name: 'Main' }).waitFor()
    assert.deepEqual(
      urls.filter((url) => url.includes(guest.token) && new URL(url).hash === ''),
      [],
    )
    const left = await page.evaluate(
      'JSON.stringify([location.href, Object.entries(localStorage), Object.entries(sessionStorage), window.portalToken, document.documentElement.outerHTML, history.state])',
    )
    assert.ok(!String(left).includes(guest.token), 'the token is in no place of the page')
    await page.goto('about:blank')
    await page.goBack()
    await page.getByRole('navigation', { name: 'Main' }).waitFor()
    assert.equal(page.url(), viewOf(world, guest), 'the history does not have it')
    await seen.close()
  },
)

test(
  'the cookie in the browser is that of the contract: host-only, HttpOnly, Secure, SameSite=None, for 8 hours at most',
  { skip: noBrowser },
  async () => {
    const seen = await entered(stage, await inANewPortal(world))
    const cookie = await portalCookie(seen.page.context())
    assert.ok(cookie !== undefined, 'the browser has accepted it')
    const { httpOnly, secure, sameSite, path, domain, expires, value } = cookie
    assert.deepEqual(
      { httpOnly, secure, sameSite, path, domain },
      { httpOnly: true, secure: true, sameSite: 'None', path: '/', domain: '127.0.0.1' },
    )
    assert.ok(Math.abs(expires * 1_000 - (Date.now() + LIMITS.portalSessionMs)) < 120_000)
    assert.ok(
      !value.includes('hpt_') &&
        !Buffer.from(value.split('.').at(-2) ?? '', 'base64url')
          .toString()
          .includes('hpt_'),
    )
    assert.equal(await seen.page.evaluate('document.cookie'), '', 'no script reads it')
    await seen.close()
  },
)

test('a token that expires sooner ends the session then', { skip: noBrowser }, async () => {
  const seen = await entered(stage, await inANewPortal(world, { expires_in: 900 }))
  const cookie = await portalCookie(seen.page.context())
  assert.ok(Math.abs((cookie?.expires ?? 0) * 1_000 - (Date.now() + 900_000)) < 120_000)
  const now = world.clock.now()
  world.clock.advance(901_000)
  await comeBack(seen.page)
  await seen.page.getByRole('heading', { name: 'This link has expired' }).waitFor()
  world.clock.set(now)
  await seen.close()
})

test('the session ends for good when a person turns off the portal', { skip: noBrowser }, async () => {
  const guest = await inANewPortal(world)
  const seen = await entered(stage, guest)
  const { page } = seen
  await world.admin('PATCH', `portals/${guest.portal}`, { enabled: false })
  await comeBack(page)
  await page.getByRole('heading', { name: 'This page is turned off' }).waitFor()
  await world.admin('PATCH', `portals/${guest.portal}`, { enabled: true })
  await page.reload()
  await page.getByRole('heading', { name: 'Open this page from the product that you came from' }).waitFor()
  await seen.close()
})

test('the session ends immediately when a person revokes its token', { skip: noBrowser }, async () => {
  const guest = await inANewPortal(world, { branding: { name: 'Acme', return_url: 'https://app.example.com/hooks' } })
  const seen = await entered(stage, guest)
  const { page } = seen
  await world.admin('DELETE', `portals/${guest.portal}/tokens/${guest.tokenId}`)
  await comeBack(page)
  await page.getByRole('heading', { name: 'This link has expired' }).waitFor()
  const back = page.getByRole('link', { name: 'Go back to Acme' })
  assert.equal(await back.getAttribute('href'), 'https://app.example.com/hooks')
  await seen.close()
})

test(
  'the server refuses a change without the header X-Requested-With, and the page sends it with each change',
  { skip: noBrowser },
  async () => {
    const seen = await entered(stage, await inANewPortal(world))
    const { page } = seen
    const statuses = await page.evaluate(`Promise.all(
    [{}, { 'X-Requested-With': 'XMLHttpRequest' }, { 'X-Requested-With': 'fetch' }].map((headers) =>
      fetch('/portal/api/destinations', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...headers },
        body: '{"url":"not a url"}',
      }).then(({ status }) => status)))`)
    assert.deepEqual(statuses, [403, 403, 400])
    const [request] = await Promise.all([
      page.waitForRequest((one) => one.method() === 'DELETE' && one.url().endsWith('/portal/api/session')),
      page.getByRole('button', { name: 'Sign out' }).click(),
    ])
    assert.equal((await request.allHeaders())['x-requested-with'], 'fetch')
    await page.getByRole('heading', { name: 'You have signed out' }).waitFor()
    assert.equal(await portalCookie(page.context()), undefined)
    await seen.close()
  },
)

test('a page of another site cannot use the session, by a form or by fetch', { skip: noBrowser }, async () => {
  const guest = await inANewPortal(world)
  const seen = await entered(stage, guest)
  host.body = ''
  const other = await seen.page.context().newPage()
  await other.goto(host.origin)
  const answers = await other.evaluate(`Promise.all(['include', 'omit'].map((credentials) =>
    fetch('${world.baseUrl}/portal/api/me', { credentials }).then((answer) => answer.status, () => 'refused')))`)
  assert.deepEqual(answers, ['refused', 'refused'], 'no answer is readable for another origin')
  host.body = `<form method="post" action="${world.baseUrl}/portal/api/session"><button>Go</button></form>`
  await other.goto(host.origin)
  const [response] = await Promise.all([
    other.waitForResponse((one) => one.url().endsWith('/portal/api/session')),
    other.getByRole('button', { name: 'Go' }).click(),
  ])
  assert.equal(response.status(), 401)
  assert.equal((await response.allHeaders())['set-cookie'], undefined)
  await seen.page.reload()
  await seen.page.getByRole('navigation', { name: 'Main' }).waitFor()
  await seen.close()
})

test(
  'in a frame of another site the portal has a separate jar: the session is for that site alone',
  { skip: noBrowser },
  async () => {
    const guest = await inANewPortal(world, { frame_origins: [host.origin] })
    host.body = `<iframe title="Webhooks" src="${guest.url}" style="width:100%;height:700px"></iframe>`
    const seen = await stage.stranger()
    const { page } = seen
    await page.goto(host.origin)
    const frame = await frameIn(page)
    await frame.getByRole('navigation', { name: 'Main' }).waitFor()
    assert.ok(!frame.url().includes(guest.token), 'the token is gone from the address of the frame')
    const cookie = await portalCookie(page.context())
    assert.equal(cookie?.partitionKey, 'http://localhost')
    await page.goto(viewOf(world, guest))
    await page.getByRole('heading', { name: 'Open this page from the product that you came from' }).waitFor()
    await seen.close()
  },
)

test(
  'frame-ancestors: a page that the portal does not name cannot have it in a frame, nor can a page that it no longer names',
  { skip: noBrowser },
  async () => {
    const guest = await inANewPortal(world, { frame_origins: ['https://app.example.com'] })
    host.body = `<iframe title="Webhooks" src="${guest.url}"></iframe>`
    const { page } = await stage.stranger()
    const isShown = async (): Promise<boolean> => {
      const refused = page.waitForEvent('console', (message) => message.text().includes('frame-ancestors'))
      refused.catch(() => undefined)
      await page.goto(host.origin)
      const shown = (await frameIn(page)).getByRole('navigation', { name: 'Main' }).waitFor()
      return Promise.race([refused.then(() => false), shown.then(() => true)])
    }
    assert.equal(await isShown(), false)
    await world.admin('PATCH', `portals/${guest.portal}`, { frame_origins: [host.origin] })
    assert.equal(await isShown(), true)
    await world.admin('PATCH', `portals/${guest.portal}`, { frame_origins: [] })
    assert.equal(await isShown(), false)
    await page.context().close()
  },
)

test(
  'with two customers in two tabs, the page of the first ends with a sentence and never shows the data of the second',
  { skip: noBrowser },
  async () => {
    const portal = (await aPortal(world)).id
    const [one, two] = [await aGuest(world, { portal }), await aGuest(world, { portal })]
    const seen = await entered(stage, one)
    const second = await seen.page.context().newPage()
    await second.goto(two.url)
    await second.getByText(`The ${two.customerId}`).waitFor()
    await comeBack(seen.page)
    await seen.page.getByRole('heading', { name: 'This browser shows another account now' }).waitFor()
    assert.equal(await seen.page.getByText(`The ${two.customerId}`).count(), 0)
    await seen.close()
  },
)

test('the page explains an unknown portal and an address without a link', { skip: noBrowser }, async () => {
  const seen = await stage.stranger('dark')
  const { page } = seen
  await page.goto(`${world.baseUrl}/portal/prt_01kaq000000000000000000000`)
  await page.getByRole('heading', { name: 'There is no page at this address' }).waitFor()
  await page.goto(viewOf(world, await inANewPortal(world, { branding: { name: 'Acme' } })))
  await page.getByText('You need a link from Acme to see your webhooks.').waitFor()
  await page.goto(`${viewOf(world, await inANewPortal(world))}#t=hpt_${'x'.repeat(43)}`)
  await page.getByRole('heading', { name: 'This link has expired' }).waitFor()
  await seen.close()
})

test(
  'in a browser that does not store the cookie, the customer stays signed in until the page is closed',
  { skip: noBrowser },
  async () => {
    const guest = await inANewPortal(world)
    const seen = await stage.stranger()
    const { page } = seen
    await page.route('**/portal/api/me', async (route) => {
      await page.context().clearCookies()
      await route.continue()
    })
    await page.goto(guest.url)
    await page.getByRole('navigation', { name: 'Main' }).waitFor()
    assert.equal(await portalCookie(page.context()), undefined)
    await page.getByRole('link', { name: 'Event types' }).click()
    await page.getByRole('heading', { name: 'Event types', exact: true }).waitFor()
    assert.ok(!(await page.content()).includes(guest.token))
    await page.reload()
    await page.getByRole('heading', { name: 'Open this page from the product that you came from' }).waitFor()
    await seen.close()
  },
)
