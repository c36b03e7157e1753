import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { aWebhook, post } from '../../../server/test/stage/fixtures.ts'
import { eventually } from '../../../server/test/stage/harness.ts'
import { aStage, noBrowser, type Stage } from '../stage/browser.ts'
import { aLine } from '../stage/line.ts'

let stage: Stage

before(async () => {
  if (noBrowser === false) stage = await aStage()
})
after(() => stage?.stop())

/** The server writes refusals a second later, by its clock. */
async function refused(webhook: { readonly id: string }, requests: number): Promise<void> {
  await eventually(`the server writes ${requests} refusals`, async () => {
    stage.world.clock.advance(250)
    const rows: readonly { count: number }[] = (await stage.world.admin('GET', `rejections?webhook_id=${webhook.id}`))
      .body.rejections
    return rows.reduce((sum, { count }) => sum + count, 0) >= requests ? true : undefined
  })
}

test(
  'the screen groups rejected requests by cause with a remedy and a sample, and the tester reports why a signature does not match',
  { skip: noBrowser },
  async () => {
    const seen = await stage.owner()
    const { page } = seen
    await page.goto(stage.url('rejections'))
    await page.getByRole('heading', { name: 'No rejected requests' }).waitFor()
    const signed = await aWebhook(stage.world, {
      name: 'Signed',
      verification: { scheme: 'code_host', secret: 'hush' },
    })
    for (let sent = 0; sent < 3; sent += 1) assert.equal((await post(signed.public_url, '{}')).status, 401)
    await refused(signed, 3)
    const row = page.getByRole('row').filter({ hasText: 'The signature header was missing' })
    // The live tail reads refusals from time to time, by the clock of the server.
    await eventually('the page counts three refusals', async () => {
      stage.world.clock.advance(250)
      return (await row.getByText('3', { exact: true }).count()) > 0 ? true : undefined
    })
    // The page loaded the names before the endpoint existed.
    await page.reload()
    await row.getByText('Signed', { exact: true }).waitFor()
    await row.click()
    assert.equal(new URL(page.url()).searchParams.get('sel'), 'missing_header')
    await page.getByText('the endpoint reads the header X-Hub-Signature-256').waitFor()
    const sample = page.getByRole('group', { name: 'Rejected request sample' })
    await sample.getByText('The header X-Hub-Signature-256 is missing.').waitFor()
    await sample.getByText('content-length', { exact: true }).waitFor()
    await page.getByText('Test another request', { exact: true }).click()
    const tester = page.getByRole('form', { name: 'Signature tester' })
    await tester.getByLabel('Headers').fill(`X-Hub-Signature-256: sha256=${'ab'.repeat(32)}`)
    await tester.getByLabel('Body').fill('{}')
    await tester.getByRole('button', { name: 'Test the signature' }).click()
    await tester.getByText('The request is rejected: bad signature.').waitFor()
    await page.getByRole('list', { name: 'Endpoints' }).getByRole('link', { name: 'Signed' }).click()
    await page.waitForURL(`**/endpoints?sel=${signed.id}&tab=verification`)
    await page.getByRole('heading', { name: 'Signature check' }).waitFor()
    await seen.close()
  },
)

test(
  'one press adds a refused address to the allowlist, and its next request is accepted',
  { skip: noBrowser },
  async () => {
    const guarded = await aWebhook(stage.world, { name: 'Guarded', ip_allowlist: ['203.0.113.7'] })
    assert.equal((await post(guarded.public_url, '{}')).status, 403)
    await refused(guarded, 1)
    const seen = await stage.owner('dark')
    const { page } = seen
    await page.goto(`${stage.url('rejections')}?sel=ip_not_allowed`)
    const allow = page.getByRole('button', { name: 'Allow 127.0.0.1' })
    await allow.waitFor()
    // Another person adds an address meanwhile, which must not be lost.
    await stage.world.admin('PATCH', `webhooks/${guarded.id}`, { ip_allowlist: ['203.0.113.7', '203.0.113.8'] })
    await allow.click()
    await page.getByText('127.0.0.1 is allowed now').waitFor()
    const kept = (await stage.world.admin('GET', `webhooks/${guarded.id}`)).body.webhook
    assert.deepEqual(kept.ip_allowlist, ['203.0.113.7', '203.0.113.8', '127.0.0.1'])
    assert.equal((await post(guarded.public_url, '{}')).status, 201)
    await page.keyboard.press('Escape')
    await page.waitForURL((url) => !url.search.includes('sel='))
    await seen.close()
  },
)

test('the page shows refusals from the time when the page was disconnected', { skip: noBrowser }, async () => {
  const line = await aLine(stage.world.address)
  const closed = await aWebhook(stage.world, { name: 'Closed', verification: { scheme: 'code_host', secret: 'hush' } })
  const seen = await stage.owner()
  const { page } = seen
  await page.goto(`${stage.url('rejections').replace(stage.world.baseUrl, line.url)}?webhook=${closed.id}`)
  await page.getByRole('heading', { name: 'No rejected requests here' }).waitFor()
  line.cut()
  assert.equal((await post(closed.public_url, '{}')).status, 401)
  await refused(closed, 1)
  line.mend()
  await page.getByRole('row').filter({ hasText: 'The signature header was missing' }).waitFor()
  await seen.close()
  line.stop()
})

test(
  'a person turns on a disabled endpoint from the cause; the address contains the endpoint and the range',
  { skip: noBrowser },
  async () => {
    const off = await aWebhook(stage.world, { name: 'Asleep', enabled: false })
    const quiet = await aWebhook(stage.world, { name: 'Quiet' })
    assert.equal((await post(off.public_url, '{}')).status, 503)
    await refused(off, 1)
    const seen = await stage.owner()
    const { page } = seen
    await page.goto(`${stage.url('rejections')}?webhook=${quiet.id}`)
    await page.getByRole('heading', { name: 'No rejected requests here' }).waitFor()
    await page.getByRole('button', { name: 'Quiet' }).click()
    await page.getByRole('menuitem', { name: 'Asleep' }).click()
    await page.getByRole('button', { name: '7 days' }).click()
    await page.waitForURL(`**/rejections?webhook=${off.id}&range=7d`)
    await page.getByText('1 request rejected').waitFor()
    await page.keyboard.press('j')
    await page.waitForURL('**&sel=endpoint_disabled')
    await page.getByRole('button', { name: 'Turn on' }).click()
    await page.getByText('The endpoint is on now.').waitFor()
    assert.equal((await post(off.public_url, '{}')).status, 201)
    await seen.close()
  },
)

test(
  'the screen reads the log page by page, and older minutes on demand; one cause has separate pages',
  { skip: noBrowser },
  async () => {
    const ROWS = 2_250
    const now = stage.world.clock.now()
    const rows = Array.from({ length: ROWS }, (_none, n) => ({
      id: `rej_${String(n).padStart(26, '0')}`,
      webhook_id: null,
      ingest_key_id: null,
      reason: n % 2 === 0 ? 'burst_limited' : 'empty_body',
      status: 429,
      count: 2,
      at: new Date(now - n * 1_000).toISOString(),
      source_ip: '192.0.2.1',
      method: 'POST',
      content_type: null,
      remedy: 'Send less.',
    }))
    const seen = await stage.owner()
    const { page } = seen
    await page.route('**/rejections?*', (route) => {
      const { searchParams } = new URL(route.request().url())
      const all = rows.filter(({ reason }) => reason === (searchParams.get('reason') ?? reason))
      const at = Number(searchParams.get('cursor') ?? 0)
      return route.fulfill({
        json: { rejections: all.slice(at, at + 200), next_cursor: at + 200 < all.length ? String(at + 200) : null },
      })
    })
    await page.goto(stage.url('rejections'))
    await page.getByText('4,000 requests rejected, of the newest 2,000 minutes').waitFor()
    await page.getByRole('row').filter({ hasText: 'The body was empty' }).click()
    await page.getByRole('region', { name: 'Cause' }).getByText('2,250 requests').waitFor()
    await page.getByRole('button', { name: 'Show older minutes' }).click()
    await page.getByRole('list', { name: 'Minutes' }).getByRole('listitem').nth(199).waitFor()
    await page.getByRole('button', { name: 'Load older rejections' }).click()
    await page.getByText('4,500 requests rejected', { exact: true }).waitFor()
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await seen.close()
  },
)

test(
  'the screen shows the last rejected request of a cause redacted, so nobody has to paste it',
  { skip: noBrowser },
  async () => {
    const hook = await aWebhook(stage.world, { name: 'Broken sender' })
    assert.equal((await post(hook.public_url, '{"id":"evt_9","password":"hunter2"', {})).status, 400)
    await refused(hook, 1)
    const seen = await stage.owner('dark')
    const { page } = seen
    await page.goto(`${stage.url('rejections')}?sel=invalid_body&webhook=${hook.id}`)
    const body = page.getByLabel('Rejected request body')
    await body.waitFor()
    assert.equal(await body.textContent(), '{"id":"evt_9","password":"•••"')
    await seen.picture('rejections-sample')
    await stage.world.admin('PATCH', `webhooks/${hook.id}`, { refused_samples: false })
    await page.reload()
    await page.getByText('This endpoint does not store samples').waitFor()
    await seen.close()
  },
)
