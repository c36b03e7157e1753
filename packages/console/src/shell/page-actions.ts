import { shownMenuItems } from '../ui/menu.tsx'
import type { Command } from './command.ts'

const LABEL_CHARS_MAX = 60
/** Rows and values have buttons too, which are not actions of the page. */
const CONTENT = '[role=grid], [role=tree], [role=dialog], pre, [data-content]'

/** The actions of the open page: its buttons, its tabs and the items of its menus. The palette finds each by its label. */
export function pageActions(): readonly Command[] {
  const found = new Map<string, Command>()
  const add = (command: Command): void => {
    if (!found.has(command.label)) found.set(command.label, command)
  }
  for (const element of document.querySelectorAll<HTMLElement>('main button:enabled, main [role=tab]')) {
    const label = labelOf(element)
    if (label === '' || label.length > LABEL_CHARS_MAX || element.closest(CONTENT) !== null) continue
    if (!element.checkVisibility() || element.getAttribute('aria-haspopup') === 'menu') continue
    const key = element.querySelector('kbd')?.textContent ?? undefined
    const hint = element.role === 'tab' ? 'tab' : key
    add({ label, ...(hint === undefined ? {} : { hint }), go: () => element.isConnected && element.click() })
  }
  for (const { label, hint, go } of shownMenuItems()) add({ label, ...(typeof hint === 'string' ? { hint } : {}), go })
  return [...found.values()]
}

/** The label without the key that a button shows. */
function labelOf(element: HTMLElement): string {
  const named = element.getAttribute('aria-label')
  if (named !== null) return named
  const whole = element.cloneNode(true)
  if (!(whole instanceof HTMLElement)) return ''
  for (const key of whole.querySelectorAll('kbd')) key.remove()
  return whole.textContent.replaceAll(/\s+/g, ' ').trim()
}
