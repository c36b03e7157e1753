import type { Browser, BrowserContext, Page } from 'playwright-core'
import { PATIENCE_MS } from './shared-browser.ts'

/** Where the pages of a stage come from, and where they go after their test. */
export type Pages = { take(): Promise<Page>; giveBack(page: Page): Promise<void> }

export const WINDOW = { width: 1_440, height: 900 } as const

const WATCH_POLICY =
  "addEventListener('securitypolicyviolation', (event) => console.error('CSP ' + event.violatedDirective + ' ' + event.blockedURI))"
/** Test files run side by side and share the clipboard of the browser, so a page reads only what it wrote itself. */
const OWN_CLIPBOARD = `(() => {
  const { clipboard } = navigator
  if (clipboard === undefined) return
  const write = clipboard.writeText.bind(clipboard)
  let last = Promise.resolve('')
  clipboard.writeText = (text) => {
    const written = write(text)
    last = written.then(() => text)
    return written
  }
  clipboard.readText = () => last
})()`

/** A page in a separate context, which ends with it. */
export function separatePages(browser: Browser): Pages {
  return { take: () => aPage(browser), giveBack: (page) => page.context().close() }
}

/**
 * Hands a page that a test gave back to the next one. It has compiled the console already, so it opens a screen in a
 * quarter of the time of a page in a new context. It has no cookies, storage, routes or other tabs of the earlier test.
 */
export function pagesInTurn(browser: Browser, home: string): Pages {
  const idle: Page[] = []
  return {
    take: async () => idle.pop() ?? aPage(browser),
    giveBack: async (page) => {
      await clear(page, home)
      idle.push(page)
    },
  }
}

async function aPage(browser: Browser): Promise<Page> {
  const context = await browser.newContext({
    viewport: WINDOW,
    timezoneId: 'UTC',
    permissions: ['clipboard-write'],
  })
  context.setDefaultTimeout(PATIENCE_MS)
  await context.addInitScript(WATCH_POLICY)
  await context.addInitScript(OWN_CLIPBOARD)
  return context.newPage()
}

async function clear(page: Page, home: string): Promise<void> {
  const context = page.context()
  await closeOthers(context, page)
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  // A small document of the same origin ends what the console does, and its storage is that of the console.
  await page.goto(`${home}/healthz`)
  await page.evaluate('localStorage.clear(); sessionStorage.clear()')
  await context.clearCookies()
  await page.setViewportSize(WINDOW)
  // The pointer must not rest on a row of the next screen.
  await page.mouse.move(0, 0)
}

async function closeOthers(context: BrowserContext, page: Page): Promise<void> {
  for (const other of context.pages()) if (other !== page) await other.close()
}
