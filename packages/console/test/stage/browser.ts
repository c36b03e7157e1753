import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { after, before } from 'node:test'
import { decodeId, type Role } from '@postroad/contract'
import type { ConsoleMessage, Dialog, Page } from 'playwright-core'
import { behind, signedIn } from '../../../server/test/stage/fixtures.ts'
import { aSink, aWorld, type Sink, type World, type WorldOptions } from '../../../server/test/stage/harness.ts'
import { aMember } from '../../../server/test/stage/people.ts'
import { pagesInTurn, separatePages, type Pages } from './pages.ts'
import { buildConsole, connectBrowser, noBrowser } from './shared-browser.ts'

export { buildConsole, noBrowser } from './shared-browser.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const TAGS = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
/** Only these rules read colors, so a second theme of the same page needs no others. */
const COLOR_RULES = ['color-contrast', 'link-in-text-block']
const runAxe = (type: 'tag' | 'rule', values: readonly string[]): string =>
  `axe.run(document, { runOnly: ${JSON.stringify({ type, values })} }).then((result) => result.violations)`
type Violation = {
  readonly id: string
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
}
/** Texts that the console must never run, wherever it shows them. */
export const CORPUS = [
  '<img src=x onerror=alert(1)>',
  '"><script>alert(1)</script>',
  'javascript:alert(1)//\'"',
  '</title></textarea></style><svg/onload=alert(1)>',
  "{{constructor.constructor('alert(1)')()}}",
  '<iframe srcdoc="<script>parent.alert(1)</script>">',
  '<a href="javascript:alert(1)" style="position:fixed;inset:0">x</a>',
] as const

/** A server, and the browser that all files share. */
export async function aStage(options: WorldOptions = {}): Promise<Stage> {
  buildConsole()
  const world = await aWorld({ loops: 'all', ...options })
  const browser = await connectBrowser()
  return new Stage(world, {
    pages: pagesInTurn(browser, world.baseUrl),
    separate: separatePages(browser),
    stop: () => browser.close(),
  })
}

type Made = { readonly stage: Stage; readonly sink: Sink }

/** A stage with a receiver, for all tests of a file. It starts before them if there is a browser. */
export function onStage(prepare: (made: Made) => void | Promise<void>): void {
  const made: { stage?: Stage; sink?: Sink } = {}
  before(async () => {
    if (noBrowser !== false) return
    made.stage = await aStage()
    made.sink = await aSink()
    await prepare({ stage: made.stage, sink: made.sink })
  })
  after(async () => {
    await made.stage?.stop()
    await made.sink?.stop()
  })
}

/** A browser without a server. */
export async function aBrowser(): Promise<BrowserOf> {
  const browser = await connectBrowser()
  const pages = separatePages(browser)
  return { open: async (theme = 'light') => seenIn(pages, { theme }), stop: () => browser.close() }
}

export type BrowserOf = { open(theme?: Theme): Promise<Seen>; stop(): Promise<void> }

async function seenIn(pages: Pages, { theme, reducedMotion = 'reduce', now }: Look): Promise<Seen> {
  const page = await pages.take()
  await page.emulateMedia({ colorScheme: theme, reducedMotion })
  if (now !== undefined) await page.clock.setSystemTime(now)
  return new Seen(page, () => pages.giveBack(page))
}

export type Theme = 'light' | 'dark'
type Motion = 'reduce' | 'no-preference'
type Look = { readonly theme: Theme; readonly reducedMotion?: Motion; readonly now?: number }

type Browsing = { readonly pages: Pages; readonly separate: Pages; stop(): Promise<void> }

export class Stage {
  readonly world: World
  readonly #browsing: Browsing

  constructor(world: World, browsing: Browsing) {
    this.world = world
    this.#browsing = browsing
  }

  /** The same stage with a new context for each page, for a test that changes its page for good. */
  get apart(): Stage {
    return new Stage(this.world, { ...this.#browsing, pages: this.#browsing.separate })
  }

  /** A page without a session. */
  stranger(theme: Theme = 'light'): Promise<Seen> {
    return seenIn(this.#browsing.pages, { theme, now: this.world.clock.now() })
  }

  /** A page of the owner. */
  async owner(theme: Theme = 'light', reducedMotion: Motion = 'reduce'): Promise<Seen> {
    const { workspace, user } = await this.#owner()
    return this.#page({ workspaceId: workspace, userId: user }, { theme, reducedMotion })
  }

  /** A page of a member with this role. */
  async member(role: Role, theme: Theme = 'light'): Promise<Seen> {
    const { workspace } = await this.#owner()
    const database = behind(this.world)
    try {
      return await this.#page(await aMember(this.world, database, { workspaceId: workspace, role }), { theme })
    } finally {
      await database.close()
    }
  }

  /** The address of a screen, of the Default project unless another one is named. */
  url(screen: string, project: string = this.world.installed.project.slug): string {
    return `${this.world.baseUrl}/${this.world.installed.workspace.slug}/${project}/${screen}`
  }

  async stop(): Promise<void> {
    await this.#browsing.stop()
    await this.world.stop()
  }

  async #page(whose: { workspaceId: string; userId: string }, look: Look): Promise<Seen> {
    const seen = await seenIn(this.#browsing.pages, { ...look, now: this.world.clock.now() })
    const { cookie = '' } = await signedIn(this.world, whose)
    const [name = '', value = ''] = cookie.split('=')
    await seen.page.context().addCookies([{ name, value, url: this.world.baseUrl, httpOnly: true, sameSite: 'Lax' }])
    return seen
  }

  async #owner(): Promise<{ workspace: string; user: string }> {
    const me = (await this.world.admin('GET', 'me')).body
    return { workspace: decodeId('workspace', me.workspace.id) ?? '', user: decodeId('user', me.user.id) ?? '' }
  }
}

/** A page and its faults in one test: errors, and violations of the content security policy. */
export class Seen {
  readonly page: Page
  readonly faults: string[] = []
  readonly #leave: () => Promise<void>

  constructor(page: Page, giveBack: () => Promise<void>) {
    this.page = page
    const unwatch = watch(page, this.faults)
    this.#leave = async () => {
      await giveBack()
      unwatch()
    }
  }

  /** Checks the current page against WCAG 2.2 AA and best practice. */
  accessible(where: string): Promise<void> {
    return this.#passes(where, runAxe('tag', TAGS))
  }

  /** Checks a page that has opened in the light theme, and its colors in the dark theme too. */
  async accessibleInBothThemes(where: string): Promise<void> {
    await this.accessible(`${where}, light`)
    await this.page.emulateMedia({ colorScheme: 'dark' })
    await this.page.locator('html:not([data-theme=light])').waitFor({ state: 'attached' })
    await this.#passes(`${where}, dark`, runAxe('rule', COLOR_RULES))
    await this.page.emulateMedia({ colorScheme: 'light' })
  }

  async #passes(where: string, run: string): Promise<void> {
    if (!(await this.page.evaluate<boolean>("'axe' in window"))) await this.page.evaluate(AXE)
    const violations = await this.page.evaluate<Violation[]>(run)
    const found = violations.map(
      ({ id, nodes }) =>
        `${id}: ${nodes
          .slice(0, 3)
          .map(
            ({ html, failureSummary }) =>
              `${html.slice(0, 200)} (${failureSummary.replaceAll(/\s+/g, ' ').slice(0, 260)})`,
          )
          .join(' | ')}`,
    )
    assert.deepEqual(found, [], where)
  }

  /** The text that the page has copied last. */
  copied(): Promise<string> {
    return this.page.evaluate<string>('navigator.clipboard.readText()')
  }

  /** Writes a picture, if PICTURES names a folder for pictures. */
  async picture(name: string): Promise<void> {
    const folder = process.env['PICTURES']
    if (folder !== undefined) await this.page.screenshot({ path: join(folder, `${name}.png`) })
  }

  /** Checks that the page had no faults, and gives it to the next test. */
  async close(): Promise<void> {
    assert.deepEqual(this.faults, [])
    await this.#leave()
  }
}

/** Adds each fault of the page to a list, until the returned function is called. */
function watch(page: Page, faults: string[]): () => void {
  const onError = (error: Error): void => void faults.push(`error: ${error.message}`)
  const onMessage = (message: ConsoleMessage): void => {
    // The browser also logs a refusal that the page handles.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      faults.push(`console: ${message.text()}`)
  }
  const onDialog = (dialog: Dialog): void => {
    // A page with unsaved edits asks before it closes. A test leaves such a page on purpose.
    if (dialog.type() === 'beforeunload') return void dialog.accept()
    faults.push(`a script ran: ${dialog.message()}`)
    void dialog.dismiss()
  }
  page.on('pageerror', onError).on('console', onMessage).on('dialog', onDialog)
  return () => void page.off('pageerror', onError).off('console', onMessage).off('dialog', onDialog)
}
