import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Page, Route } from 'playwright-core'
import { noBrowser, type Seen, type Stage, type Theme } from './browser.ts'

/** A screen that reads a list or an object from the server when it opens. */
export type ReadingScreen = {
  readonly title: string
  /** The path below the project. */
  readonly screen: string
  readonly theme: Theme
  /** The addresses that the screen reads. */
  readonly reads: RegExp
  /** The frame around every screen reads the same address before the screen does. */
  readonly isReadByFrame?: true
  /** Opens the part of the screen that reads these addresses. */
  readonly open?: (page: Page) => Promise<void>
  /** Waits until the screen shows the answer. */
  readonly shows?: (page: Page) => Promise<void>
}

/** A list of the admin API below the project, and one below the workspace. */
export const inProject = (path: string): RegExp => new RegExp(`/admin/api/projects/[^/]+/${path}\\?`)
export const inWorkspace = (path: string): RegExp => new RegExp(`/admin/api/${path}\\?`)

type Answer = (route: Route) => Promise<void>

const passed: Answer = (route) => route.continue()

const refused =
  (status: number, body: object): Answer =>
  (route) =>
    route.fulfill({
      status,
      headers: { 'content-type': 'application/json', 'request-id': 'req_0123' },
      // Neither the client nor a list that reads by itself tries again within so long a wait.
      body: JSON.stringify({ ...body, retry_after: 300 }),
    })

const FORBIDDEN = refused(403, { error: 'Your role may not read this. Ask an admin.', code: 'insufficient_role' })
const LIMITED = refused(429, { error: 'Too many requests. Wait a little.' })
const BROKEN = refused(500, { error: 'Something broke here. Try again.', reason: 'internal_error' })

type Look = (seen: Seen, where: string) => Promise<void>
const noLook: Look = () => Promise.resolve()

/** The states of each screen before it has its data: it loads, or the server refuses the read. `look` is called at each. */
export function testStates(stageOf: () => Stage, screens: readonly ReadingScreen[], look = noLook): void {
  for (const screen of screens)
    test(
      `${screen.title}: it shows that it loads; a refused read never looks empty, and names the reason and the remedy`,
      { skip: noBrowser },
      () => testScreen(stageOf(), screen, look),
    )
}

async function testScreen(stage: Stage, screen: ReadingScreen, look: Look): Promise<void> {
  const { title, shows } = screen
  const seen = await stage.owner(screen.theme)
  const { page } = seen
  const alert = page.getByRole('alert')
  const again = page.getByRole('button', { name: 'Try again', exact: true })
  const server = await aProxy(page, screen)
  const open = async (answer: Answer): Promise<void> => {
    server.answers(answer, { isNewPage: true })
    await page.goto(stage.url(screen.screen))
    await screen.open?.(page)
  }

  const [asked, late] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  await open(async (route) => {
    asked.resolve()
    await late.promise
    await FORBIDDEN(route)
  })
  // The frame around the screen can load slowly too, but not after the screen has asked.
  await asked.promise
  await page.getByRole('status', { name: 'Loading' }).first().waitFor()
  await look(seen, `${title}, loading`)
  late.resolve()
  await alert.getByText('Your role may not read this. Ask an admin.').waitFor()
  assert.equal(await page.getByRole('button', { name: 'Try again' }).count(), 0, 'it would be refused again')
  await look(seen, `${title}, forbidden`)

  await open(LIMITED)
  await alert.getByText('Too many requests. Wait a little.').waitFor()
  assert.equal(await page.getByRole('button', { name: /^Try again in \d+ s$/ }).isDisabled(), true)
  await look(seen, `${title}, rate-limited`)

  server.answers(BROKEN)
  await page.clock.setSystemTime(stage.world.clock.now() + 600_000)
  await again.click()
  await alert.getByText('internal_error').waitFor()
  await page.getByRole('button', { name: 'req_0123' }).waitFor()
  await look(seen, `${title}, broken`)

  // A list that reads by itself could otherwise take the button away before the click.
  const isClicked = Promise.withResolvers<void>()
  server.answers(async (route) => {
    await isClicked.promise
    await route.continue()
  })
  await again.click()
  isClicked.resolve()
  await shows?.(page)
  await alert.waitFor({ state: 'detached' })
  await seen.close()
}

type Between = { answers(answer: Answer, from?: { readonly isNewPage: true }): void }

/** Answers the reads of a screen instead of the server, as a proxy would. */
async function aProxy(page: Page, { reads, isReadByFrame }: ReadingScreen): Promise<Between> {
  let answer = passed
  let isFrameNext = false
  await page.route(reads, (route) => {
    const next = isFrameNext ? passed : answer
    isFrameNext = false
    return next(route)
  })
  return {
    answers: (next, from) => {
      answer = next
      isFrameNext = from !== undefined && isReadByFrame === true
    },
  }
}
