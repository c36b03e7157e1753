import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aDestination, anIngestKey, aRule } from '../../../server/test/stage/fixtures.ts'
import type { Sink } from '../../../server/test/stage/harness.ts'
import { noBrowser, onStage, type Stage, type Theme } from '../stage/browser.ts'

let stage: Stage
let sink: Sink

onStage(async (made) => {
  ;({ stage, sink } = made)
  await aDestination(stage.world, { url: sink.url })
  await aRule(stage.world)
  await anIngestKey(stage.world)
})

const SCREENS = [
  { screen: 'endpoints', title: 'Endpoints', room: 'webhooks', theme: 'light' },
  { screen: 'ingest-keys', title: 'Ingest keys', room: 'ingest-keys', theme: 'dark' },
  { screen: 'rules', title: 'Rules', room: 'rules', theme: 'light' },
  { screen: 'destinations', title: 'Destinations', room: 'destinations', theme: 'dark' },
] as const satisfies readonly { readonly theme: Theme; readonly [name: string]: string }[]

/** These tests answer instead of the server, as a proxy would. */
for (const { screen, title, room, theme } of SCREENS) {
  test(
    `${title}: a list that could not be read never looks empty; each refusal names its reason and the remedy`,
    { skip: noBrowser },
    async () => {
      const seen = await stage.owner(theme)
      const { page } = seen
      const list = new RegExp(`/admin/api/projects/[^/]+/${room}\\?`)
      const answers = async (status: number, body: object, headers: Record<string, string> = {}): Promise<void> => {
        await page.unroute(list)
        await page.route(list, (route) =>
          route.fulfill({
            status,
            headers: { 'content-type': 'application/json', 'request-id': 'req_0123', ...headers },
            body: JSON.stringify(body),
          }),
        )
        await page.goto(stage.url(screen))
      }
      await answers(403, { error: 'Your role may not read this. Ask an admin.', code: 'insufficient_role' })
      await page.getByRole('alert').getByText('Your role may not read this. Ask an admin.').waitFor()
      assert.equal(await page.getByRole('button', { name: 'Try again' }).count(), 0, 'it would be refused again')
      await seen.accessible(`${title}, forbidden`)

      await answers(429, { error: 'Too many requests. Wait a little.', retry_after: 30 }, { 'retry-after': '30' })
      await page.getByRole('alert').getByText('Too many requests. Wait a little.').waitFor()
      assert.equal(await page.getByRole('button', { name: /^Try again in \d+ s$/ }).isDisabled(), true)
      await seen.accessible(`${title}, rate-limited`)

      await answers(500, { error: 'Something broke here. Try again.', reason: 'internal_error' })
      await page.getByRole('alert').getByText('internal_error').waitFor()
      await page.getByRole('button', { name: 'req_0123' }).waitFor()
      await seen.accessible(`${title}, broken`)
      await page.unroute(list)
      await page.getByRole('button', { name: 'Try again' }).click()
      await page.getByRole('grid', { name: title }).getByRole('row').nth(1).waitFor()
      await seen.close()
    },
  )
}

test(
  'a person saves a filter as a named view, finds it in the palette, and removes it; only its screen has it',
  { skip: noBrowser },
  async () => {
    await aRule(stage.world, { name: 'Refunds of May', dataset: 'refunds' })
    const seen = await stage.owner('dark')
    const { page } = seen
    await page.goto(stage.url('rules?view=on'))
    await page.getByRole('grid', { name: 'Rules' }).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('refunds')
    await page.keyboard.press('Escape')
    await page.keyboard.press('s')
    await page.getByLabel('Name', { exact: true }).fill('Money back')
    await seen.accessible('naming a view')
    await page.keyboard.press('Enter')
    const views = page.getByRole('group', { name: 'Views' })
    assert.equal(await views.getByRole('button', { name: 'Money back' }).getAttribute('aria-pressed'), 'true')
    await views.getByRole('button', { name: 'All' }).click()
    await page.waitForURL((url) => url.search === '')

    await page.goto(stage.url('destinations'))
    await page.getByRole('grid', { name: 'Destinations' }).waitFor()
    assert.equal(await views.getByRole('button', { name: 'Money back' }).count(), 0)
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Search or run' }).fill('money view of rules')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/rules?*')
    assert.deepEqual(Object.fromEntries(new URL(page.url()).searchParams), { q: 'refunds', view: 'on' })
    await page.getByRole('row').filter({ hasText: 'Refunds of May' }).waitFor()
    await page.getByRole('button', { name: 'Remove the view Money back' }).click()
    await views.getByRole('button', { name: 'Money back' }).waitFor({ state: 'detached' })
    await seen.accessible('views of rules')
    await seen.close()
  },
)

test('the palette leads to every screen, and to everything that has a name', { skip: noBrowser }, async () => {
  const rule = await aRule(stage.world, { name: 'Quarterly totals' })
  const seen = await stage.owner()
  const { page } = seen
  await page.goto(stage.url('overview'))
  const items = page.getByRole('navigation', { name: 'Main' }).getByRole('link')
  await items.first().waitFor()
  const names = (await items.allTextContents()).map((name) => name.trim())
  for (const name of names) {
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Search or run' }).fill(name)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
    await page.getByRole('combobox', { name: 'Search or run' }).waitFor({ state: 'detached' })
  }
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox', { name: 'Search or run' }).fill('quarterly rule')
  await page.getByRole('option', { name: 'Quarterly totals' }).waitFor()
  await seen.accessible('the palette with a name')
  await page.keyboard.press('Enter')
  await page.waitForURL(`**/rules?sel=${rule.id}`)
  await page.getByRole('heading', { name: 'Quarterly totals', level: 2 }).waitFor()
  await seen.close()
})
