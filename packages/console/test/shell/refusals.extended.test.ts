import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page } from 'playwright-core'
import { aRule } from '../../../server/test/stage/fixtures.ts'
import { noBrowser, onStage, type Stage } from '../stage/browser.ts'

/** A refused or late answer: the page says so, offers a way on, and loses no edit. */
let stage: Stage

onStage((made) => {
  ;({ stage } = made)
})

/** Returns after the page has drawn what it knows now. */
const drawn = (page: Page): Promise<unknown> =>
  page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')

test('a link to one item of a refused list shows the refusal on a narrow page', { skip: noBrowser }, async () => {
  const seen = await stage.owner()
  const { page } = seen
  await page.route(/\/admin\/api\/.*\/rules\?/, (route) =>
    route.fulfill({ status: 403, json: { error: 'Not for you.' } }),
  )
  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto(stage.url('rules?sel=rul_01kaq000000000000000000000'))
  const panel = page.getByRole('region', { name: 'rule', exact: true })
  await panel.getByRole('alert').getByText('Not for you.').waitFor()
  await seen.close()
})

test(
  'edits stay while the session cannot be read again, and those typed during a save stay unsaved',
  { skip: noBrowser },
  async () => {
    const rule = await aRule(stage.world, { name: 'First name' })
    const seen = await stage.owner('dark')
    const { page } = seen
    await page.goto(stage.url(`rules?sel=${rule.id}`))
    const name = page.getByLabel('Name', { exact: true })
    await name.fill('Second name')
    await page.route('**/admin/api/me', (route) => route.fulfill({ status: 403, json: { error: 'Not now.' } }))
    await page.clock.setSystemTime(stage.world.clock.now() + 60_000)
    const [answer] = await Promise.all([
      page.waitForResponse('**/admin/api/me'),
      page.evaluate("dispatchEvent(new Event('visibilitychange'))"),
    ])
    await answer.finished()
    await drawn(page)
    assert.equal(await name.inputValue(), 'Second name')

    const isSaved = Promise.withResolvers<void>()
    await page.route(`**/rules/${rule.id}`, async (route) => {
      if (route.request().method() === 'PATCH') await isSaved.promise
      await route.continue()
    })
    const asked = page.waitForRequest((request) => request.method() === 'PATCH')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await asked
    await name.fill('Third name')
    isSaved.resolve()
    await page.getByText('Saved. The change applies from the next request.').waitFor()
    assert.equal(await name.inputValue(), 'Third name')
    await page.getByRole('button', { name: 'Save', exact: true }).waitFor()
    assert.equal((await stage.world.admin('GET', `rules/${rule.id}`)).body.rule.name, 'Second name')
    await seen.close()
  },
)

test(
  'a change in a browser without a network fails with a sentence, and does not wait for the network to happen later',
  { skip: noBrowser },
  async () => {
    const rule = await aRule(stage.world, { name: 'Without a network' })
    const seen = await stage.owner()
    const { page } = seen
    await page.goto(stage.url(`rules?sel=${rule.id}`))
    const off = page.getByRole('button', { name: 'Turn off' })
    await off.waitFor()
    await page.context().setOffline(true)
    await off.click()
    await page.getByRole('status').getByText(/reach/).waitFor()
    assert.equal(await off.isEnabled(), true)
    await page.context().setOffline(false)
    await seen.close()
  },
)

test(
  'the focus stays in the list of settings after Enter on one of its links, and the palette scrolls to the chosen line',
  { skip: noBrowser },
  async () => {
    const seen = await stage.owner('dark')
    const { page } = seen
    await page.goto(stage.url('workspace'))
    const settings = page.getByRole('navigation', { name: 'Settings' })
    await settings.getByRole('link', { name: 'Projects' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: 'Projects' }).waitFor()
    await settings.getByRole('link', { name: 'Projects' }).and(page.locator(':focus')).waitFor()

    await page.keyboard.press('Control+k')
    await page.getByRole('option').first().waitFor()
    await page.keyboard.press('ArrowUp')
    const option = page.getByRole('option', { selected: true })
    const list = page.getByRole('listbox', { name: 'Found' })
    const [inner, outer] = [await option.boundingBox(), await list.boundingBox()]
    assert.ok(inner !== null && outer !== null && inner.y + inner.height <= outer.y + outer.height + 1)
    await seen.close()
  },
)

test(
  'the commands that a person copies name the project where it is not the Default one',
  { skip: noBrowser },
  async () => {
    const { project } = (await stage.world.admin('POST', 'projects', { name: 'Staging' })).body
    const seen = await stage.owner()
    const { page } = seen
    await page.goto(stage.url('workflows', project.slug))
    await page.getByText('workflows create --data @workflow.json --project staging').waitFor()
    await page.goto(stage.url('workflows'))
    await page.getByText('workflows create --data @workflow.json', { exact: false }).waitFor()
    assert.equal(await page.getByText('--project').count(), 0)
    await seen.close()
  },
)

test('a secret counts as copied only when the browser has copied it', { skip: noBrowser }, async () => {
  const seen = await stage.apart.owner()
  const { page } = seen
  await page.addInitScript(
    "Object.defineProperty(navigator, 'clipboard', { value: { writeText: () => Promise.reject(new Error('refused')) } })",
  )
  await page.goto(stage.url('data-keys?new=1'))
  await page.getByLabel('Name', { exact: true }).fill('Warehouse')
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  const secret = page.getByRole('group', { name: 'Data API key' })
  await secret.getByRole('button', { name: 'Copy' }).click()
  await page.getByText('The browser refused to copy this.', { exact: false }).waitFor()
  assert.equal(await secret.getByRole('button', { name: 'Copied' }).count(), 0)
  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByText('You have not copied the key.', { exact: false }).waitFor()
  await page.getByRole('button', { name: 'Done' }).click()
  await secret.waitFor({ state: 'detached' })
  await seen.close()
})

test(
  'a list that is refused later stays, and the page says what happened and when to try again',
  { skip: noBrowser },
  async () => {
    await aRule(stage.world, { name: 'Read before' })
    const seen = await stage.owner()
    const { page } = seen
    await page.goto(stage.url('rules'))
    const row = page.getByRole('row').filter({ hasText: 'Read before' })
    await row.waitFor()
    await page.route(/\/admin\/api\/.*\/rules\?/, (route) =>
      route.fulfill({
        status: 429,
        headers: { 'retry-after': '60' },
        json: { error: 'Too many reads.', retry_after: 60 },
      }),
    )
    await page.clock.setSystemTime(stage.world.clock.now() + 60_000)
    await page.evaluate("dispatchEvent(new Event('visibilitychange'))")
    const stale = page.getByRole('status').filter({ hasText: 'Too many reads.' })
    await stale.getByText('Last update', { exact: false }).waitFor()
    assert.equal(await stale.getByRole('button', { name: /^Try again in \d+ s$/ }).isDisabled(), true)
    assert.equal(await stale.getByText('Reconnecting').count(), 0)
    await row.waitFor()
    await seen.close()
  },
)

for (const screen of ['connected-agents', 'deliveries'])
  test(
    `${screen}: after 429, the page waits as long as the server asks, and then reads the list again by itself`,
    { skip: noBrowser },
    async () => {
      const seen = await stage.owner()
      const { page } = seen
      let reads = 0
      let isRefused = true
      await page.route(/\/admin\/api\/(?:agents|projects\/[^/]+\/deliveries)\?/, (route) => {
        reads += 1
        return isRefused
          ? route.fulfill({ status: 429, json: { error: 'Too many requests.', retry_after: 60 } })
          : route.continue()
      })
      await page.goto(stage.url(screen))
      const again = page.getByRole('button', { name: /^Try again in \d+ s$/ })
      await again.waitFor()
      await page.clock.runFor(30_000)
      const left = Number(/\d+/.exec(await again.innerText())?.[0])
      assert.ok(left < 40, `the wait started again: ${left} s`)
      assert.equal(reads, 1)
      isRefused = false
      await page.clock.runFor(31_000)
      await page.getByRole('alert').waitFor({ state: 'detached' })
      await seen.close()
    },
  )
