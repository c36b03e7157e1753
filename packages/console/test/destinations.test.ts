import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { aDestination, post } from '../../server/test/fixtures.ts'
import { aSink, type Sink } from '../../server/test/harness.ts'
import { aStage, noBrowser, type Stage } from './browser.ts'

let stage: Stage
let sink: Sink

before(async () => {
  if (noBrowser !== false) return
  stage = await aStage()
  sink = await aSink()
})
after(async () => {
  await stage?.stop()
  await sink?.stop()
})

test('a destination is made with a URL, its secret is shown once, an event arrives, and the screen tells of it', { skip: noBrowser }, async () => {
  const seen = await stage.owner()
  const { page } = seen
  await page.goto(stage.url('destinations'))
  await page.getByRole('heading', { name: 'Nothing is delivered yet' }).waitFor()
  await seen.accessible('no destination')
  await page.keyboard.press('n')
  await page.getByLabel('URL', { exact: true }).fill(sink.url)
  await page.getByLabel('Name', { exact: true }).fill('Ledger')
  await page.getByText('Retries, headers and limits').click()
  await seen.accessible('a new destination')
  await page.getByRole('button', { name: 'Create' }).click()
  const secret = await page.getByRole('group', { name: 'Signing secret' }).locator('code').innerText()
  assert.match(secret, /^whsec_/)
  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('heading', { name: 'Ledger' }).waitFor()
  assert.ok(!(await page.content()).includes(secret), 'the secret is shown once')

  await post(stage.world.endpoint, '{"total":42.5}')
  await sink.until(1)
  await page.getByRole('list', { name: 'Newest deliveries' }).getByText('delivered').waitFor()
  await seen.accessible('deliveries of a destination')
  await seen.close()
})

test('settings are changed, saved, and drawn: the schedule, the datasets, the conditions', { skip: noBrowser }, async () => {
  const { destination } = await aDestination(stage.world, { name: 'Warehouse', url: sink.url })
  const seen = await stage.owner('dark')
  const { page } = seen
  await page.goto(`${stage.url('destinations')}?sel=${destination.id}&tab=settings`)
  await page.getByText('On a schedule of its own').click()
  await page.getByLabel('Waits before each attempt').fill('0s, 1x')
  await page.getByText('“1x” is no wait').first().waitFor()
  await page.getByLabel('Waits before each attempt').fill('0s, 30s, 5m')
  await page.getByRole('img', { name: '3 attempts' }).waitFor()
  await page.getByRole('button', { name: 'Add a condition' }).click()
  await page.getByLabel('Path of condition 1').fill('total')
  await page.getByLabel('Comparison of condition 1').selectOption('gt')
  await page.getByLabel('Value of condition 1').fill('1000')
  await seen.accessible('settings of a destination')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('Saved. It counts from the next attempt on.').waitFor()
  const kept = (await stage.world.admin('GET', `destinations/${destination.id}`)).body.destination
  assert.deepEqual(kept.retry.schedule_seconds, [0, 30, 300])
  assert.deepEqual(kept.conditions, [{ path: 'total', op: 'gt', value: 1_000 }])
  await seen.close()
})

test('a secret is revealed, rotated with an overlap, and authentication is set without ever being shown', { skip: noBrowser }, async () => {
  const { destination, secret } = await aDestination(stage.world, { name: 'Audit', url: sink.url })
  const seen = await stage.owner()
  const { page } = seen
  await page.goto(`${stage.url('destinations')}?sel=${destination.id}&tab=signing`)
  await page.getByRole('button', { name: 'Reveal' }).click()
  assert.equal(await page.getByRole('group', { name: 'Signing secret' }).locator('code').innerText(), secret)
  await page.getByRole('button', { name: 'Rotate the secret' }).click()
  const renewed = await page.getByRole('group', { name: 'New signing secret' }).locator('code').innerText()
  assert.notEqual(renewed, secret)
  await page.getByText('signs too, ends').waitFor()
  await seen.accessible('signing of a destination')

  await page.getByRole('tab', { name: 'Authentication' }).click()
  await page.getByLabel('Proved by').selectOption('bearer')
  await page.getByLabel('Token', { exact: true }).fill('t0p-secret')
  await page.getByRole('button', { name: 'Save authentication' }).click()
  await page.getByPlaceholder('held; leave empty to keep it').waitFor()
  await seen.accessible('authentication of a destination')
  assert.equal((await stage.world.admin('GET', `destinations/${destination.id}`)).body.destination.auth.has_secret, true)
  assert.ok(!(await page.content()).includes('t0p-secret'))
  await seen.close()
})

test('the filter, the view and what is open stand in the address; keys move, a deletion asks first', { skip: noBrowser }, async () => {
  await aDestination(stage.world, { name: 'Sleeping', url: sink.url, enabled: false })
  const seen = await stage.owner('dark')
  const { page } = seen
  await page.goto(`${stage.url('destinations')}?view=off`)
  await page.getByRole('row').filter({ hasText: 'Sleeping' }).waitFor()
  await page.getByText('1 destination', { exact: true }).waitFor()
  await seen.accessible('the list of destinations')
  await page.keyboard.press('/')
  await page.keyboard.type('nothing like this')
  await page.getByRole('heading', { name: 'No destination is like this' }).waitFor()
  assert.equal(new URL(page.url()).searchParams.get('q'), 'nothing like this')
  await page.getByRole('button', { name: 'Show all' }).click()
  await page.getByRole('row').filter({ hasText: 'Sleeping' }).waitFor()
  await page.keyboard.press('j')
  await page.waitForURL('**/destinations?sel=dst_*')
  await page.getByRole('heading', { name: 'Sleeping', level: 2 }).waitFor()
  await page.getByRole('button', { name: 'Switch on' }).click()
  await page.getByRole('button', { name: 'Switch off' }).waitFor()
  await page.getByRole('button', { name: 'More' }).click()
  await page.getByRole('menuitem', { name: 'Delete…' }).click()
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.waitForURL((url) => !url.search.includes('sel='))
  await page.getByRole('row').filter({ hasText: 'Sleeping' }).waitFor({ state: 'detached' })
  await seen.close()
})
