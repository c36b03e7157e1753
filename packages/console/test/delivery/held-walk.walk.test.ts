import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { holdText, TROUBLE_CAUSES, wordOf, type HoldCause } from '@postroad/contract'
import { inEighth } from '../../../server/test/stage/eighths.ts'
import { behind } from '../../../server/test/stage/fixtures.ts'
import { prepareStates, type Prepared } from '../../../server/test/stage/held-states.ts'
import { aStage, noBrowser, type Stage } from '../stage/browser.ts'

/** Every state of a delivery at a destination with every status, as the screens show it. */

let stage: Stage
let all: readonly Prepared[]

before(async () => {
  if (noBrowser !== false) return
  stage = await aStage({ env: { ROLES: 'web' } })
  const database = behind(stage.world)
  all = await prepareStates(stage.world, database)
  await database.close()
})
after(() => stage?.stop())

/** The column "Next" of a delivery that its destination holds back. */
const NEXT: Readonly<Record<HoldCause, RegExp>> = {
  destination_disabled: /^disabled$/,
  destination_off: /^destination off$/,
  breaker_open: /^probe (?:now|in \S|due)/,
  breaker_recovering: /^recovering$/,
  rate_limit: /^rate limit$/,
  in_flight: /^waiting for its turn$/,
  order: /^waiting for an earlier event$/,
}

type One = Prepared['deliveries'][number]
const held = (of: Prepared): readonly One[] => of.deliveries.filter(({ cause }) => cause !== null)

async function compareList(page: Page, of: Prepared): Promise<void> {
  await page.goto(`${stage.url('deliveries')}?destination=${of.destinationId}`)
  const rows = page.getByRole('grid', { name: 'Deliveries' }).getByRole('row')
  await page.getByText(`${of.deliveries.length} deliveries`, { exact: true }).waitFor()
  for (const [index, { case: one, cause }] of of.deliveries.entries()) {
    const row = rows.filter({ hasText: `case.${index}` }).first()
    const about = `${of.lane.name}: ${index}`
    const word = cause === null || one.state === 'paused' ? wordOf(one.state) : 'held'
    assert.equal(await row.getByRole('img').first().getAttribute('aria-label'), word, about)
    // The two last columns are the next attempt and the number of attempts.
    const next = (await row.getByRole('gridcell').nth(-2).textContent()) ?? ''
    const causes = Object.entries(NEXT).filter(([, words]) => words.test(next))
    assert.deepEqual(
      causes.map(([name]) => name),
      cause === null ? [] : [cause],
      `${about}: ${next}`,
    )
  }
  await page.goto(`${stage.url('deliveries')}?destination=${of.destinationId}&state=held`)
  const count = held(of).length
  await page
    .getByText(count === 0 ? 'No deliveries are held right now.' : `${count} deliveries`, { exact: true })
    .waitFor()
}

/** Compares a delivery that is held back and one that is not. */
async function comparePanels(page: Page, of: Prepared): Promise<void> {
  const shown = [held(of)[0], of.deliveries.find(({ cause }) => cause === null)]
  for (const one of shown) {
    if (one === undefined) continue
    await page.goto(`${stage.url('deliveries')}?sel=${one.id}`)
    const panel = page.getByRole('region', { name: 'Delivery', exact: true })
    await panel.getByText('Event payload').waitFor()
    const line = panel.getByText(/^Held back by its destination: /)
    if (one.cause === null) assert.equal(await line.count(), 0, of.lane.name)
    else assert.ok((await line.textContent())?.includes(`: ${holdText({ cause: one.cause })}`), of.lane.name)
  }
}

/** Compares the events with a delivery that failed, retries or is stuck. */
async function compareFailing(page: Page, of: Prepared): Promise<void> {
  await page.goto(`${stage.url('events')}?view=failing&dataset=${of.dataset}&live=0`)
  const events = page.getByRole('grid', { name: 'Events' }).getByRole('row')
  await events.filter({ hasText: 'case.6' }).waitFor()
  for (const [index, { case: one, cause }] of of.deliveries.entries()) {
    const isFailing =
      one.state === 'failed' || one.state === 'retrying' || (cause !== null && TROUBLE_CAUSES.has(cause))
    assert.equal(
      await events.filter({ hasText: `case.${index}` }).count(),
      isFailing ? 1 : 0,
      `${of.lane.name}: the event ${index}`,
    )
  }
}

async function compareLights(page: Page): Promise<void> {
  await page.goto(stage.url('destinations'))
  const rows = page.getByRole('grid', { name: 'Destinations' }).getByRole('row')
  for (const { lane } of all) {
    const row = rows.filter({ has: page.getByText(lane.name, { exact: true }) })
    await row.waitFor()
    assert.equal(await row.getByRole('img').first().getAttribute('aria-label'), lane.light, lane.name)
  }
}

test(
  'the list, its view of deliveries held back, the inspector, the failing events and the destinations agree',
  { skip: noBrowser },
  async () => {
    const seen = await stage.owner()
    for (const of of all) {
      await compareList(seen.page, of)
      await comparePanels(seen.page, of)
      await compareFailing(seen.page, of)
    }
    await compareLights(seen.page)
    await seen.close()
  },
)

test('the banner names the destinations that hold deliveries back, and how many', { skip: noBrowser }, async () => {
  const seen = await stage.owner('dark')
  const { page } = seen
  await page.goto(stage.url('deliveries'))
  const banner = page.getByRole('list', { name: 'Destinations that are holding deliveries back' })
  await banner.waitFor()
  const lines = await banner.getByRole('listitem').allTextContents()
  const { holds } = (await stage.world.admin('GET', 'delivery-holds')).body
  const trouble = holds.filter(({ cause }: { cause: string }) => !['rate_limit', 'in_flight', 'order'].includes(cause))
  for (const [index, hold] of trouble.slice(0, 3).entries())
    assert.ok(
      lines[index]?.includes(`${hold.deliveries} deliveries to ${hold.name} held back`) &&
        lines[index]?.includes(holdText(hold)),
      `${lines[index]}`,
    )
  // Queues that have waited for a minute count too.
  assert.match(lines[3] ?? '', /^\d more destinations have waiting deliveries\.$/)
  await seen.accessible('the banner of held deliveries')
  await seen.picture('held-walk')
  await seen.close()
})

test('destinations with every status and deliveries with every cause are accessible', { skip: noBrowser }, async () => {
  const seen = await stage.owner()
  const { page } = seen
  await page.goto(stage.url('deliveries?state=held'))
  await page.getByRole('grid', { name: 'Deliveries' }).getByRole('row').nth(1).waitFor()
  await seen.accessible('held deliveries')
  for (const of of inEighth(all)) {
    const one = held(of)[0] ?? of.deliveries.find(({ case: { state } }) => state === 'retrying')
    await page.goto(`${stage.url('deliveries')}?sel=${one?.id}`)
    await page.getByRole('region', { name: 'Delivery', exact: true }).getByText('Event payload').waitFor()
    await seen.accessible(`a delivery to ${of.lane.name}`)
  }
  await page.goto(stage.url('destinations'))
  await page.getByRole('grid', { name: 'Destinations' }).getByText('Recovering', { exact: true }).waitFor()
  await seen.accessible('the list of destinations')
  for (const of of all.filter(({ lane }) => ['Open', 'Recovering', 'Gone'].includes(lane.name))) {
    await page.goto(`${stage.url('destinations')}?sel=${of.destinationId}`)
    await page.getByRole('heading', { name: of.lane.name, level: 2 }).waitFor()
    await page.getByRole('region', { name: 'Health' }).waitFor()
    await seen.accessible(`the destination ${of.lane.name}`)
  }
  await seen.close()
})
