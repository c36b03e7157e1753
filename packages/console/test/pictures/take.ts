import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { createRollUp } from '../../../server/src/resources/workspace/rollups/index.ts'
import { behind } from '../../../server/test/stage/fixtures.ts'
import { aStage, type Seen, type Stage, type Theme } from '../stage/browser.ts'
import { AUTOMATION_PLACES, MORE_PLACES, openPlace, PLACES } from '../stage/places.ts'
import type { Place, Scene } from '../stage/place.ts'
import { anOperator, OPERATOR } from '../stage/settings.ts'
import { openSmallPage, SMALL_PAGES, type SmallPage } from '../stage/small-pages.ts'
import { aGuest, inPortal } from '../../../server/test/stage/portal-stage.ts'
import { viewOf } from '../stage/portal.ts'
import { AGO_MS, fill } from './project.ts'

const WINDOWS = [
  { width: 390, height: 844 },
  { width: 1_024, height: 768 },
  { width: 1_440, height: 900 },
] as const
const THEMES: readonly Theme[] = ['light', 'dark']
const TICK_MS = 200
const COUNT_TICKS = 25
const PATIENCE_MS = 20_000
/** A part that loads shows it only after 150 ms. */
const LATE_MS = 250

export type Order = {
  readonly folder: string
  /** Only places whose name contains one of these; empty: all. */
  readonly names: readonly string[]
  readonly say: (line: string) => void
}
export type Taken = { readonly count: number; readonly failed: readonly string[] }

/** Writes a picture of every place of the console in each window and theme; reports how many, and what could not be opened. */
export async function takePictures(order: Order): Promise<Taken> {
  mkdirSync(order.folder, { recursive: true })
  const stage = await aStage({ now: Date.now() - AGO_MS, env: { OPERATORS: OPERATOR } })
  const database = behind(stage.world)
  let scene: Awaited<ReturnType<typeof fill>> | undefined
  let ticking: ReturnType<typeof setInterval> | undefined
  try {
    await anOperator(database)
    scene = await fill(stage.world, order.say)
    ticking = keepTime(stage)
    return await takeAll([...placesOf(stage, scene), ...smallPagesOf(stage), portalOf(stage, scene)], order)
  } finally {
    clearInterval(ticking)
    await database.close()
    await stage.stop()
    await scene?.stop()
  }
}

/** The clock of the server follows that of the pages, and the counts are written every few seconds. */
export function keepTime({ world }: Stage): ReturnType<typeof setInterval> {
  const count = createRollUp(world.app.deps)
  let ticks = 0
  return setInterval(() => {
    world.clock.set(Date.now())
    ticks += 1
    if (ticks % COUNT_TICKS === 0) void count()
  }, TICK_MS)
}

/** Something to open, which calls `look` at each of its states. */
type Sight = { readonly name: string; open(look: (seen: Seen, state: string) => Promise<void>): Promise<Seen> }

export function placesOf(stage: Stage, scene: Scene): readonly Sight[] {
  return [...PLACES, ...MORE_PLACES, ...AUTOMATION_PLACES].map((place: Place) => ({
    name: place.name,
    open: async (look) => {
      const seen = await stage.owner()
      seen.page.setDefaultTimeout(PATIENCE_MS)
      await openPlace({ seen, stage, scene }, place, (state) => look(seen, state))
      return seen
    },
  }))
}

export function smallPagesOf(stage: Stage): readonly Sight[] {
  return SMALL_PAGES.map((small: SmallPage) => ({
    name: `small page, ${small.name}`,
    open: async (look) => {
      const seen = await openSmallPage(stage, small)
      await look(seen, '')
      return seen
    },
  }))
}

/** The views of a portal, as a customer with one destination sees them. */
function portalOf(stage: Stage, { portalId }: Scene): Sight {
  const { world } = stage
  return {
    name: 'customer portal',
    open: async (look) => {
      const guest = await aGuest(world, { portal: portalId, customerId: 'acct_1200', name: 'Larkspur Studio' })
      const seen = await stage.stranger()
      await seen.page.goto(guest.url)
      await seen.page.getByRole('heading', { name: 'No destinations yet' }).waitFor()
      await look(seen, 'empty')
      const added = await inPortal(world, guest, 'POST destinations', { url: 'https://example.com/hooks' })
      for (const [state, search] of [
        ['destinations', ''],
        ['new destination', '?view=new'],
        ['destination', `?view=destination&id=${added.body.destination.id}`],
        ['deliveries', '?view=deliveries'],
        ['event types', '?view=event-types'],
      ] as const) {
        await seen.page.goto(viewOf(world, guest, search))
        await seen.page.getByRole('heading', { level: 1 }).first().waitFor()
        await look(seen, state)
      }
      return seen
    },
  }
}

export async function takeAll(sights: readonly Sight[], { folder, names, say }: Order): Promise<Taken> {
  const failed: string[] = []
  let count = 0
  for (const sight of sights) {
    const { name } = sight
    if (names.length > 0 && !names.some((wanted) => name.includes(wanted))) continue
    say(name)
    try {
      const seen = await sight.open(async ({ page }, state) => {
        count += await inEachWindow(
          page,
          join(
            folder,
            [name, state]
              .filter((part) => part !== '')
              .map(fileName)
              .join('.'),
          ),
        )
      })
      await seen.page.context().close()
    } catch (error) {
      failed.push(`${name}: ${String(error).split('\n')[0] ?? ''}`)
    }
  }
  return { count, failed }
}

/** Leaves the page in the widest window and in the light theme, as it was. */
async function inEachWindow(page: Page, path: string): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, LATE_MS))
  for (const theme of THEMES.toReversed())
    for (const window of WINDOWS) {
      await page.emulateMedia({ colorScheme: theme })
      await page.setViewportSize(window)
      await drawn(page)
      await page.screenshot({ path: `${path}-${window.width}-${theme}.png`, animations: 'disabled' })
    }
  return THEMES.length * WINDOWS.length
}

/** Waits until no part of the page is loading and the lists have their new height. */
async function drawn(page: Page): Promise<void> {
  const loading = page.getByRole('status', { name: 'Loading' })
  while ((await loading.count()) > 0) await loading.first().waitFor({ state: 'hidden' })
  await page.evaluate(
    'document.fonts.ready.then(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))))',
  )
}

/** `workflow.runs` is a tab of the screen `workflow`, and `workflow-runs` another screen. */
const fileName = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
