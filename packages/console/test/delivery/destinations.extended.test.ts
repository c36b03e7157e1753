import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aDestination, post } from '../../../server/test/stage/fixtures.ts'
import { aSink, eventually, type Sink } from '../../../server/test/stage/harness.ts'
import { noBrowser, onStage, type Stage } from '../stage/browser.ts'

let stage: Stage
let sink: Sink

onStage((made) => {
  ;({ stage, sink } = made)
})

test(
  'a new destination shows its secret once, gets the next event, and lists its delivery',
  { skip: noBrowser },
  async () => {
    const seen = await stage.owner()
    const { page } = seen
    await page.goto(stage.url('destinations'))
    await page.getByRole('heading', { name: 'No destinations yet' }).waitFor()
    await page.keyboard.press('n')
    await page.getByRole('button', { name: /^PagerDuty/ }).waitFor()
    await page.getByRole('button', { name: /^Webhook receiver/ }).click()
    await page.getByLabel('URL', { exact: true }).fill(sink.url)
    await page.getByLabel('Name', { exact: true }).fill('Ledger')
    await page.getByText('Retries, headers and limits').click()
    await page.getByRole('button', { name: 'Create' }).click()
    const secret = await page.getByRole('group', { name: 'Signing secret' }).locator('code').innerText()
    assert.match(secret, /^whsec_/)
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('heading', { name: 'Ledger' }).waitFor()
    assert.ok(!(await page.content()).includes(secret), 'the secret is shown once')

    await post(stage.world.endpoint, '{"total":42.5}')
    await sink.until(1)
    await page.getByRole('list', { name: 'Newest deliveries' }).getByText('delivered').waitFor()
    await seen.close()
  },
)

test(
  'a person changes and saves the schedule, the datasets and the conditions, and the page draws the schedule',
  { skip: noBrowser },
  async () => {
    const { destination } = await aDestination(stage.world, { name: 'Warehouse', url: sink.url })
    const seen = await stage.owner('dark')
    const { page } = seen
    await page.goto(`${stage.url('destinations')}?sel=${destination.id}&tab=settings`)
    await page.getByText('On a custom schedule').click()
    await page.getByLabel('Waits before each attempt').fill('0s, 1x')
    await page.getByText('“1x” is not a wait').first().waitFor()
    await page.getByLabel('Waits before each attempt').fill('0s, 30s, 5m')
    await page.getByRole('img', { name: '3 attempts' }).waitFor()
    await page.getByRole('button', { name: 'Add a condition' }).click()
    await page.getByLabel('Path of condition 1').fill('total')
    await page.getByLabel('Comparison of condition 1').selectOption('gt')
    await page.getByLabel('Value of condition 1').fill('1000')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Saved. The change applies from the next attempt.').waitFor()
    const kept = (await stage.world.admin('GET', `destinations/${destination.id}`)).body.destination
    assert.deepEqual(kept.retry.schedule_seconds, [0, 30, 300])
    assert.deepEqual(kept.conditions, [{ path: 'total', op: 'gt', value: 1_000 }])
    await seen.close()
  },
)

test(
  'the form shows the value of a header as dots; unchanged dots leave the value, and new text replaces it',
  { skip: noBrowser },
  async () => {
    const headers = { 'X-Kept': 'value-nobody-sees', 'X-Replaced': 'value-nobody-sees' }
    const { destination } = await aDestination(stage.world, {
      name: 'Headed',
      url: sink.url,
      datasets: ['Headed'],
      headers,
    })
    const seen = await stage.owner()
    const { page } = seen
    await page.goto(`${stage.url('destinations')}?sel=${destination.id}&tab=settings`)
    const field = page.getByLabel('Headers', { exact: true })
    assert.equal(await field.inputValue(), 'X-Kept: ••••••••\nX-Replaced: ••••••••')
    assert.ok(!(await page.content()).includes('nobody-sees'))
    await field.fill('X-Kept: ••••••••\nX-Replaced: new')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Saved. The change applies from the next attempt.').waitFor()
    await stage.world.admin('POST', `destinations/${destination.id}/test`, {})
    const sent = sink.received.at(-1)?.headers ?? {}
    assert.deepEqual([sent['x-kept'], sent['x-replaced']], ['value-nobody-sees', 'new'])
    await seen.close()
  },
)

test(
  'an order by key has a path and names its cost; the form refuses an invalid path in the words of the API',
  { skip: noBrowser },
  async () => {
    const { destination } = await aDestination(stage.world, { name: 'Ordered', url: sink.url })
    const kept = async () =>
      (await stage.world.admin('GET', `destinations/${destination.id}`)).body.destination.ordering
    const seen = await stage.owner()
    const { page } = seen
    await page.goto(`${stage.url('destinations')}?sel=${destination.id}&tab=settings`)
    await page.getByText('In order by key').click()
    await page.getByText('This option is slower. A failing event blocks later events').waitFor()
    for (const path of ['', 'customer..id']) {
      const refused = (await stage.world.admin('PATCH', `destinations/${destination.id}`, { ordering: { path } })).body
        .error
      await page.getByLabel('Key path').fill(path)
      const said = await page.getByRole('alert').innerText()
      assert.equal(refused, `ordering.path: ${said}`)
      assert.equal(await page.getByRole('button', { name: 'Save', exact: true }).isDisabled(), true)
    }
    await page.getByLabel('Key path').fill('customer.id')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('Saved. The change applies from the next attempt.').waitFor()
    assert.deepEqual(await kept(), { path: 'customer.id' })
    await page.reload()
    assert.equal(await page.getByLabel('Key path').inputValue(), 'customer.id')
    await page.getByText('In parallel').click()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByRole('button', { name: 'Discard' }).waitFor({ state: 'detached' })
    assert.equal(await kept(), 'none')

    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'New destination' }).click()
    await page.getByRole('button', { name: /^Webhook receiver/ }).click()
    await page.getByLabel('URL', { exact: true }).fill(sink.url)
    await page.getByLabel('Name', { exact: true }).fill('Ordered from the start')
    await page.getByText('Order: in parallel').click()
    await page.getByText('In order by key').click()
    await page.getByLabel('Key path').fill('account')
    await seen.picture('order-create')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('group', { name: 'Signing secret' }).waitFor()
    const made = (await stage.world.admin('GET', 'destinations')).body.destinations.find(
      ({ name }: { name: string }) => name === 'Ordered from the start',
    )
    assert.deepEqual(made.ordering, { path: 'account' })
    await seen.close()
  },
)

test(
  'a person reveals a secret and rotates it with an overlap; the page stores the authentication and never shows it',
  { skip: noBrowser },
  async () => {
    const { destination, secret } = await aDestination(stage.world, { name: 'Audit', url: sink.url })
    const seen = await stage.owner()
    const { page } = seen
    await page.goto(`${stage.url('destinations')}?sel=${destination.id}&tab=signing`)
    await page.getByRole('button', { name: 'Reveal' }).click()
    assert.equal(await page.getByRole('group', { name: 'Signing secret' }).locator('code').innerText(), secret)
    await page.getByRole('button', { name: 'Rotate the secret' }).click()
    const dialog = page.getByRole('dialog', { name: 'Rotate the secret?' })
    await dialog.getByText('The current secret remains valid until').waitFor()
    await dialog.getByRole('button', { name: 'Rotate the secret' }).click()
    const renewed = await page.getByRole('group', { name: 'New signing secret' }).locator('code').innerText()
    assert.notEqual(renewed, secret)
    await page.getByText('also signs, expires').waitFor()
    // A second rotation within the overlap: the dialog names the secret that would end, and requires a confirmation.
    await page.getByRole('button', { name: 'Rotate the secret' }).click()
    await dialog.getByText(/The previous secret, which is valid until .*, stops working immediately\./).waitFor()
    assert.ok(await dialog.getByRole('button', { name: 'Rotate the secret' }).isDisabled())
    await dialog.getByRole('checkbox', { name: 'Expire the previous secret now' }).check()
    await dialog.getByRole('button', { name: 'Rotate the secret' }).click()
    await dialog.waitFor({ state: 'detached' })
    assert.notEqual(await page.getByRole('group', { name: 'New signing secret' }).locator('code').innerText(), renewed)

    await page.getByRole('tab', { name: 'Authentication' }).click()
    await page.getByLabel('Method').selectOption('bearer')
    await page.getByLabel('Token', { exact: true }).fill('t0p-secret')
    await page.getByRole('button', { name: 'Save authentication' }).click()
    await page.getByPlaceholder('stored; leave empty to keep it').waitFor()
    assert.equal(
      (await stage.world.admin('GET', `destinations/${destination.id}`)).body.destination.auth.has_secret,
      true,
    )
    assert.ok(!(await page.content()).includes('t0p-secret'))
    await seen.close()
  },
)

test(
  'the address contains the filter, the view and the open destination; keys move, and a deletion asks first',
  { skip: noBrowser },
  async () => {
    await aDestination(stage.world, { name: 'Sleeping', url: sink.url, enabled: false })
    const seen = await stage.owner('dark')
    const { page } = seen
    await page.goto(`${stage.url('destinations')}?view=off`)
    await page.getByRole('row').filter({ hasText: 'Sleeping' }).waitFor()
    await page.getByText('1 destination', { exact: true }).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('nothing like this')
    await page.getByRole('heading', { name: 'No destination matches' }).waitFor()
    assert.equal(new URL(page.url()).searchParams.get('q'), 'nothing like this')
    await page.getByRole('button', { name: 'Show all' }).click()
    await page.getByRole('row').filter({ hasText: 'Sleeping' }).waitFor()
    await page.keyboard.press('j')
    await page.waitForURL('**/destinations?sel=dst_*')
    await page.getByRole('heading', { name: 'Sleeping', level: 2 }).waitFor()
    await page.getByRole('button', { name: 'Turn on' }).click()
    await page.getByRole('button', { name: 'Turn off' }).waitFor()
    await page.getByRole('button', { name: 'More' }).click()
    await page.getByRole('menuitem', { name: 'Delete…' }).click()
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.waitForURL((url) => !url.search.includes('sel='))
    await page.getByRole('row').filter({ hasText: 'Sleeping' }).waitFor({ state: 'detached' })
    await seen.close()
  },
)

test(
  'the screen sends a test and shows its answer, with the reason when it fails; a test makes no delivery',
  { skip: noBrowser },
  async (t) => {
    const own = await aSink()
    t.after(() => own.stop())
    own.answer({ status: 503, headers: { 'x-theirs': 'busy' }, body: 'come back later' })
    const { destination } = await aDestination(stage.world, { name: 'Tested', url: own.url, datasets: ['nothing'] })
    const seen = await stage.owner('dark')
    const { page } = seen
    await page.goto(`${stage.url('destinations')}?sel=${destination.id}`)
    await page.getByRole('button', { name: 'Send a test' }).click()
    await page.getByRole('button', { name: 'Send test' }).click()
    await page.getByText('The test failed').waitFor()
    await page.getByText('503', { exact: true }).waitFor()
    await page.getByText('come back later').waitFor()
    await page.getByText('x-theirs').waitFor()
    own.answer({ status: 204 })
    await page.getByRole('button', { name: 'Send again' }).click()
    await page.getByText('The test succeeded').waitFor()
    assert.equal(own.received.length, 2)
    assert.deepEqual(
      (await stage.world.admin('GET', `deliveries?destination_id=${destination.id}`)).body.deliveries,
      [],
    )
    await seen.close()
  },
)

test(
  'a delivery behind an open breaker says so and names the next probe, until the breaker has closed',
  { skip: noBrowser },
  async (t) => {
    const own = await aSink()
    t.after(() => own.stop())
    own.answer({ status: 500 })
    const { destination } = await aDestination(stage.world, {
      name: 'Down',
      url: own.url,
      datasets: ['down'],
      retry: { schedule_seconds: [0, 80_000] },
    })
    // Ten failures in a row open the breaker.
    for (let number = 0; number < 10; number += 1) await post(`${stage.world.endpoint}/down`, '{}')
    await stage.world.idle()
    const record = (await post(`${stage.world.endpoint}/down`, '{}')).body.records[0].id
    const [waiting] = (await stage.world.admin('GET', `deliveries?record_id=${record}`)).body.deliveries
    assert.equal(waiting.state, 'pending')
    const seen = await stage.owner('dark')
    const { page } = seen
    await page.goto(`${stage.url('deliveries')}?sel=${waiting.id}`)
    const line = page.getByRole('status').filter({ hasText: 'Held back by its destination' })
    await line
      .getByText(/the breaker is open, since .* Postroad sends the next probe (?:now|in \d+ (?:s|min))\./)
      .waitFor()
    await seen.picture('behind-a-breaker')
    await page.goto(`${stage.url('events')}?sel=${record}&tab=deliveries`)
    await line.waitFor()
    const [failed] = (await stage.world.admin('GET', `deliveries?destination_id=${destination.id}&state=retrying`)).body
      .deliveries
    await page.goto(`${stage.url('deliveries')}?sel=${failed.id}`)
    // A delivery that is due long after the next probe waits for that time.
    await page.getByText(/^Next attempt in \d+ h$/).waitFor()

    // After it is turned off and on, the destination has a closed breaker and gets the waiting deliveries.
    own.answer({ status: 200 })
    for (const enabled of [false, true]) await stage.world.admin('PATCH', `destinations/${destination.id}`, { enabled })
    await page.goto(`${stage.url('deliveries')}?sel=${waiting.id}`)
    await page.getByRole('region', { name: 'Delivery' }).getByText('delivered', { exact: true }).waitFor()
    assert.equal(await line.count(), 0)
    await seen.close()
  },
)

test(
  'the list and the detail show the health of a destination: its successes, its times, and its waiting deliveries',
  { skip: noBrowser },
  async (t) => {
    const own = await aSink()
    t.after(() => own.stop())
    own.answer((request) => ({ status: request.body.includes('bad') ? 500 : 200 }))
    const { destination } = await aDestination(stage.world, {
      name: 'Measured',
      url: own.url,
      datasets: ['measured'],
      retry: { schedule_seconds: [0, 80_000] },
    })
    for (const what of ['good', 'good', 'good', 'bad'])
      await post(`${stage.world.endpoint}/measured`, JSON.stringify({ what }))
    const health = async () => (await stage.world.admin('GET', `destinations/${destination.id}/health`)).body.health
    await stage.world.idle()
    // The server counts after the commits, by its clock, which stays within one hour even on a slow machine.
    let minutesLeft = 30
    await eventually('the server has counted four attempts', async () => {
      if (minutesLeft > 0) stage.world.clock.advance(5_000)
      minutesLeft -= 5 / 60
      const { attempts } = await health()
      return attempts.succeeded === 3 && attempts.failed === 1 ? true : undefined
    })
    const seen = await stage.owner()
    const { page } = seen
    await page.goto(stage.url('destinations?q=measured'))
    const row = page.getByRole('row').filter({ hasText: 'Measured' })
    await row.getByText('75%').waitFor()
    await row.getByText(/^p95 /).waitFor()
    await row.click()
    const part = page.getByRole('region', { name: 'Health' })
    await part.getByText('75%').waitFor()
    await part.getByText(/1 retrying; the oldest/).waitFor()
    await part.getByRole('img', { name: '4 attempts, 1 failed' }).waitFor()
    await part.getByRole('button', { name: '1 h' }).click()
    await part.getByRole('img', { name: '4 attempts, 1 failed' }).waitFor()
    await seen.close()
  },
)
