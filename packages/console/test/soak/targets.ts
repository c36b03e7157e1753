import type { Page } from 'playwright-core'

/** Something that a person can click now: it is in the window, enabled, and nothing covers it. */
export type Target = {
  readonly role: string
  readonly name: string
  readonly x: number
  readonly y: number
  /** Whether it takes text. */
  readonly isField: boolean
  readonly href: string | null
}

/** A click on one of these ends the session or the workspace, and with it the walk. */
const NOT_CLICKED = /^(?:Sign out|Suspend|Close…|Close the workspace|Leave|End the session)/

const COLLECT = `(() => {
  const wanted = 'a[href],button,input,select,textarea,summary,[role=tab],[role=option],[role=menuitem],[role=row],[role=treeitem],[role=checkbox],[role=switch],[role=combobox],[contenteditable=true]'
  const noText = ['checkbox', 'radio', 'file', 'range', 'color', 'submit', 'button']
  return [...document.querySelectorAll(wanted)].flatMap((element) => {
    if (element.disabled || element.getAttribute('aria-disabled') === 'true' || element.type === 'file') return []
    const box = element.getBoundingClientRect()
    const [x, y] = [box.left + box.width / 2, box.top + box.height / 2]
    if (box.width < 2 || box.height < 2 || x < 0 || y < 0 || x >= innerWidth || y >= innerHeight) return []
    const top = document.elementFromPoint(x, y)
    if (top === null || !(element.contains(top) || top.contains(element))) return []
    const name = element.getAttribute('aria-label') || element.labels?.[0]?.innerText || element.innerText || element.placeholder || ''
    const tag = element.tagName.toLowerCase()
    const isField = tag === 'textarea' || element.isContentEditable || (tag === 'input' && !noText.includes(element.type))
    return [{ role: element.getAttribute('role') ?? tag, name: name.trim().replaceAll(/\\s+/g, ' ').slice(0, 60), x, y, isField, href: element.href ?? null }]
  })
})()`

/** Everything that can be clicked, in the order of the page. */
export async function targetsOf(page: Page, home: string): Promise<readonly Target[]> {
  const all = await page.evaluate<Target[]>(COLLECT)
  return all.filter(({ name, href }) => !NOT_CLICKED.test(name) && (href === null || href.startsWith(home)))
}
