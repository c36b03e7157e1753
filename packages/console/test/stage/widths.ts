import type { Page } from 'playwright-core'
import { WINDOW } from './pages.ts'

const WIDTHS_PX = [375, 768, 1_024, 1_440] as const

/**
 * Returns the controls and headings beyond the edge of the window, where a person cannot reach them, and the page
 * itself if it is wider than the window. Those in a strip that scrolls sideways do not count. Waits a few frames first.
 */
const OUTSIDE = `(async () => {
  const frame = () => new Promise((done) => requestAnimationFrame(done))
  const root = document.documentElement
  const isOutside = (one) => {
    const { left, right, width } = one.getBoundingClientRect()
    return width > 0 && (right > root.clientWidth + 1 || left < -1)
  }
  const look = () => [
    ...(root.scrollWidth > root.clientWidth ? ['the page'] : []),
    ...[...document.querySelectorAll('h1, h2, h3, button, a[href], input, select, textarea, [role=dialog]')]
      .filter((one) => one.checkVisibility() && one.closest('.sr-only, .overflow-x-auto') === null && isOutside(one))
      .map((one) => one.outerHTML.slice(0, 160)),
  ]
  let found = []
  for (let tries = 0; tries < 10; tries += 1) {
    await frame()
    await frame()
    found = look()
    if (found.length === 0) break
  }
  return found
})()`

/** The things outside the window at each width; afterwards the window has its usual size. */
export async function outside(page: Page): Promise<readonly string[]> {
  const all: string[] = []
  for (const width of WIDTHS_PX) {
    await page.setViewportSize({ ...WINDOW, width })
    const found = await page.evaluate<readonly string[]>(OUTSIDE)
    all.push(...found.map((one) => `${width} px: ${one}`))
  }
  return all
}
