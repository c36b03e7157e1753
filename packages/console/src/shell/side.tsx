import { useLocation } from '@tanstack/react-router'
import { ChevronsUpDown, Search, Settings } from 'lucide-react'
import type { ReactElement } from 'react'
import { To, useHref } from '../data/go.tsx'
import { usePlace } from '../data/place.ts'
import { useTail } from '../data/use-tail.ts'
import { Menu, type MenuItem } from '../ui/menu.tsx'
import { Mark } from '../ui/mark.tsx'
import { NAVIGATION, type NavigationItem } from './navigation.ts'
import { usePalette } from './palette-provider.tsx'
import { chooseTheme, useTheme, type Theme } from './theme.ts'
import { callSession } from '../data/client.ts'

export function Side(): ReactElement {
  const palette = usePalette()
  return (
    <aside aria-label="Workspace" className="flex min-h-0 flex-col py-2.5 pr-2 pl-2.5 max-xl:px-2">
      <Switcher />
      <button
        type="button"
        onClick={palette.open}
        className="mt-2 mb-2.5 flex h-[30px] w-full items-center gap-2 rounded-button border border-line bg-surface pr-1.5 pl-[9px] text-ink-3 max-xl:justify-center max-xl:px-0"
      >
        <Search className="size-3.5" strokeWidth={1.5} aria-hidden />
        <span className="max-xl:sr-only">Search or run…</span>
        <kbd className="mono ml-auto text-axis max-xl:hidden">⌘K</kbd>
      </button>
      <nav aria-label="Main" className="flex min-h-0 flex-col gap-px overflow-y-auto">
        {NAVIGATION.map(({ label, items }) => (
          <div key={label ?? ''} className="flex flex-col gap-px">
            {label !== undefined && (
              <h2 className="px-[9px] pt-3.5 pb-1 text-label font-control text-ink-3 max-xl:sr-only">{label}</h2>
            )}
            {items.map((item) => (
              <Item key={item.screen} item={item} />
            ))}
          </div>
        ))}
      </nav>
      <Person />
    </aside>
  )
}

function Item({ item: { screen, label, icon: Icon } }: { readonly item: NavigationItem }): ReactElement {
  const href = useHref()(screen)
  const { pathname } = useLocation()
  const here = pathname === href || pathname.startsWith(`${href}/`)
  return (
    <To
      screen={screen}
      {...(here ? { 'aria-current': 'page' as const } : {})}
      title={label}
      className="group flex h-7 items-center gap-[9px] rounded-row px-[9px] font-[475] text-ink-2 hover:bg-hover aria-[current]:bg-press aria-[current]:font-strong aria-[current]:text-ink max-xl:justify-center"
    >
      <Icon className="size-4 flex-none text-ink-3 group-aria-[current]:text-accent" strokeWidth={1.5} aria-hidden />
      <span className="max-xl:sr-only">{label}</span>
      {screen === 'events' && <Rate />}
    </To>
  )
}

/** Events a second, while they come. */
function Rate(): ReactElement | null {
  const { perSecond } = useTail()
  return perSecond === 0 ? null : (
    <span className="mono ml-auto text-label font-control text-ink-3 max-xl:hidden">{perSecond}/s</span>
  )
}

function Switcher(): ReactElement {
  const { me, project, projects } = usePlace()
  const { pathname } = useLocation()
  const screen = pathname.split('/')[3] ?? 'events'
  const items: MenuItem[] = projects.map((one) => ({
    label: one.name,
    hint: one.id === project.id ? '✓' : '',
    go: () => location.assign(`/${me.workspace.slug}/${one.slug}/${screen}`),
  }))
  return (
    <Menu
      items={items}
      className="flex h-9 w-full items-center gap-[9px] rounded-field px-2 text-left hover:bg-hover max-xl:justify-center"
    >
      <Mark />
      <b className="truncate font-[600] tracking-[-.005em] max-xl:hidden">{me.workspace.name}</b>{' '}
      <span className="truncate text-ink-3 max-xl:hidden">{project.slug}</span>
      <span className="sr-only">Switch project</span>
      <ChevronsUpDown className="ml-auto size-3.5 flex-none text-ink-3 max-xl:hidden" strokeWidth={1.5} aria-hidden />
    </Menu>
  )
}

const THEMES: readonly { readonly theme: Theme; readonly label: string }[] = [
  { theme: 'light', label: 'Light' },
  { theme: 'dark', label: 'Dark' },
  { theme: 'system', label: 'As the system' },
]

function Person(): ReactElement {
  const { me } = usePlace()
  const theme = useTheme()
  const name = me.user.email ?? me.user.name
  const items: MenuItem[] = [
    { label: 'Account', go: () => location.assign('/account') },
    'line',
    ...THEMES.map((one) => ({
      label: one.label,
      hint: one.theme === theme ? '✓' : '',
      go: () => chooseTheme(one.theme),
    })),
    'line',
    { label: 'Sign out', go: () => void callSession('DELETE').then(() => location.assign('/sign-in')) },
  ]
  return (
    <footer className="mt-auto pt-2">
      <Menu
        items={items}
        className="flex h-8 w-full items-center gap-[9px] rounded-button px-2 text-left text-ink-2 hover:bg-hover max-xl:justify-center"
      >
        <span
          aria-hidden
          className="size-5 flex-none rounded-full bg-[linear-gradient(140deg,oklch(.50_.09_205),oklch(.42_.09_235))] text-center text-[9px] leading-5 font-[600] text-[#fff]"
        >
          {name.slice(0, 1).toUpperCase()}
        </span>
        <span className="truncate max-xl:hidden">{name}</span>
        <span className="sr-only">Account, theme and sign out</span>
        <Settings className="ml-auto size-4 flex-none text-ink-3 max-xl:hidden" strokeWidth={1.5} aria-hidden />
      </Menu>
    </footer>
  )
}
