import { Ellipsis } from 'lucide-react'
import { lazy, Suspense, useEffect, useRef, useState, type ReactElement, type ReactNode } from 'react'
import type { MenuItem } from './menu-window.tsx'
import { loaded } from './loaded.ts'

export type { MenuItem } from './menu-window.tsx'

type Props = {
  readonly items: readonly MenuItem[]
  readonly align?: 'start' | 'end'
  /** The label of the button, unless its children are its label. */
  readonly label?: string
  readonly className?: string
  readonly children: ReactNode
}

const MenuWindow = lazy(() => loaded(() => import('./menu-window.tsx')))

/** A button that opens a list of actions. Arrows move and letters search. The first menu to open loads the code. */
export function Menu({ items, align = 'start', label, className, children }: Props): ReactElement {
  const [anchor, setAnchor] = useState<HTMLElement | null>(null)
  return (
    <>
      <button
        type="button"
        aria-haspopup="menu"
        aria-expanded={anchor !== null}
        aria-label={label}
        title={label}
        className={className}
        onPointerEnter={() => void import('./menu-window.tsx')}
        onClick={(event) => setAnchor(event.currentTarget)}
      >
        {children}
      </button>
      {anchor !== null && (
        <Suspense>
          <MenuWindow anchor={anchor} items={items} align={align} onClose={() => setAnchor(null)} />
        </Suspense>
      )}
    </>
  )
}

type Entry = Exclude<MenuItem, 'line'>
const shown = new Set<{ readonly current: readonly MenuItem[] }>()

/** The items of the menus with three dots on the page; the palette finds them too. */
export function shownMenuItems(): readonly Entry[] {
  return [...shown]
    .flatMap(({ current }) => current)
    .filter((item): item is Entry => item !== 'line' && item.disabled !== true)
}

/** Three dots: more actions for the thing beside them. */
export function MoreMenu({ items }: Pick<Props, 'items'>): ReactElement {
  const now = useRef(items)
  useEffect(() => {
    now.current = items
  })
  useEffect(() => {
    shown.add(now)
    return () => void shown.delete(now)
  }, [])
  return (
    <Menu
      align="end"
      label="More"
      className="grid size-7 place-items-center rounded-button text-ink-3 hover:bg-hover hover:text-ink"
      items={items}
    >
      <Ellipsis className="size-4" strokeWidth={1.5} aria-hidden />
    </Menu>
  )
}
