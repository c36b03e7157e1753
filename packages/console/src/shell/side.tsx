import { TROUBLE_CAUSES } from '@postroad/contract/holds'
import { useLocation } from '@tanstack/react-router'
import { ChevronRight, ChevronsUpDown, LayoutGrid, Search, Settings } from 'lucide-react'
import { useState, type ReactElement } from 'react'
import { useAsk } from '../data/ask.ts'
import { To, useGo, useHref } from '../data/go.tsx'
import { useHolds } from '../data/holds.ts'
import { usePlace } from '../data/place.ts'
import { useSummary } from '../data/summary.ts'
import { useTail } from '../data/use-tail.ts'
import { COMMAND_KEY } from '../ui/command-key.ts'
import { Menu, type MenuItem } from '../ui/menu.tsx'
import { Mark } from '../ui/mark.tsx'
import { NAVIGATION, type NavigationItem } from './navigation.ts'
import { usePalette } from './palette-provider.tsx'
import { SETTINGS_ITEMS } from './settings.ts'
import { useSignOut } from './sign-out.ts'
import { chooseTheme, useTheme, type Theme } from './theme.ts'

/** The layout of an item in the bottom bar of a narrow window. All items have the same width, and a label below the icon. */
const IN_BAR =
  'max-md:h-11 max-md:w-full max-md:min-w-0 max-md:flex-col max-md:justify-end max-md:gap-0.5 max-md:px-0 max-md:pb-1'

/** Screen readers get the full name of the item instead. */
function BarLabel({ children }: { readonly children: string }): ReactElement {
  return (
    <span aria-hidden className="hidden text-axis leading-3 max-md:block">
      {children}
    </span>
  )
}

export function Side(): ReactElement {
  const palette = usePalette()
  return (
    <aside
      aria-label="Workspace"
      className="flex min-h-0 flex-col py-2.5 pr-2 pl-2.5 max-xl:px-2 max-md:grid max-md:auto-cols-fr max-md:grid-flow-col max-md:border-t max-md:border-line max-md:p-1"
    >
      <Switcher />
      <button
        type="button"
        onClick={palette.open}
        className={`mt-2 mb-2.5 flex h-[30px] w-full items-center gap-2 rounded-button border border-line bg-surface pr-1.5 pl-[9px] text-ink-3 max-md:text-ink-2 max-xl:justify-center max-xl:px-0 max-md:m-0 max-md:border-0 max-md:bg-transparent ${IN_BAR}`}
      >
        <Search className="size-3.5 max-md:size-4" strokeWidth={1.5} aria-hidden />
        <BarLabel>Search</BarLabel>
        <span className="max-xl:sr-only">Search or run…</span>
        <kbd className="mono ml-auto text-axis max-xl:hidden">{COMMAND_KEY} K</kbd>
      </button>
      <nav aria-label="Main" className="flex min-h-0 flex-col gap-px overflow-y-auto max-md:contents">
        {NAVIGATION.filter(({ items }) => items.length > 0).map(({ label, items }) =>
          label === undefined ? (
            <div key="" className="flex flex-col gap-px max-md:contents">
              {items.map((item) => (
                <Item key={item.screen} item={item} />
              ))}
            </div>
          ) : (
            <Group key={label} label={label} items={items} />
          ),
        )}
        <MoreScreens />
      </nav>
      <Usage />
      <SettingsLink />
      <Person />
    </aside>
  )
}

type GroupProps = { readonly label: string; readonly items: readonly NavigationItem[] }

/** A group of screens under its heading, which folds it. A narrow window has a line instead of the heading. */
function Group({ label, items }: GroupProps): ReactElement {
  const [isFolded, setFolded] = useState(() => foldedGroups().includes(label))
  const href = useHref()
  const { pathname } = useLocation()
  const fold = (): void => {
    setFolded(!isFolded)
    storeFolded(label, !isFolded)
  }
  return (
    <div className="flex flex-none flex-col gap-px max-md:hidden">
      <h2 className="pt-2.5 text-label font-control text-ink-3 max-xl:hidden">
        <button
          type="button"
          aria-expanded={!isFolded}
          onClick={fold}
          className="group flex h-6 w-full items-center gap-1 rounded-row px-[9px] text-left hover:text-ink"
        >
          {label}
          <ChevronRight
            aria-hidden
            strokeWidth={1.5}
            className={`size-3 text-ink-3 ${isFolded ? '' : 'rotate-90 opacity-0 group-hover:opacity-100 group-focus-visible:opacity-100'}`}
          />
        </button>
      </h2>
      <h2 className="hidden max-xl:mx-2 max-xl:my-1 max-xl:block max-xl:h-px max-xl:overflow-hidden max-xl:bg-line">
        <span className="sr-only">{label}</span>
      </h2>
      {items.map((item) => (
        <span key={item.screen} className={isFolded && pathname !== href(item.screen) ? 'xl:hidden' : 'contents'}>
          <Item item={item} />
        </span>
      ))}
    </div>
  )
}

const FOLDED = 'postroad.folded-groups'

/** The labels of the groups that the person folded in this browser. */
function foldedGroups(): readonly string[] {
  return (localStorage.getItem(FOLDED) ?? '').split(',').filter((label) => label !== '')
}

// oxlint-disable-next-line max-params -- a label and its new state
function storeFolded(label: string, isFolded: boolean): void {
  const others = foldedGroups().filter((one) => one !== label)
  localStorage.setItem(FOLDED, [...others, ...(isFolded ? [label] : [])].join(','))
}

/** The screens of the groups as a menu, where the bar has no room for them. */
function MoreScreens(): ReactElement {
  const go = useGo()
  const href = useHref()
  const { pathname } = useLocation()
  const groups = NAVIGATION.filter(({ label, items }) => label !== undefined && items.length > 0)
  const here = groups.flatMap(({ items }) => items).find(({ screen }) => pathname === href(screen))
  const items: MenuItem[] = groups.flatMap(({ label, items: of }, index) => [
    ...(index === 0 ? [] : ['line' as const]),
    ...of.map((item) => ({
      label: item.label,
      hint: item.screen === here?.screen ? '✓' : label,
      go: () => go(item.screen),
    })),
  ])
  return (
    <span className="hidden min-w-0 max-md:block">
      <Menu
        label={here === undefined ? 'More screens' : `More screens: ${here.label}`}
        align="end"
        items={items}
        className={`flex items-center rounded-row hover:bg-hover ${IN_BAR} ${here === undefined ? 'text-ink-2' : 'bg-press text-accent'}`}
      >
        <LayoutGrid className="size-4" strokeWidth={1.5} aria-hidden />
        <BarLabel>More</BarLabel>
      </Menu>
    </span>
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
      className={`group relative flex h-7 flex-none items-center gap-[9px] rounded-row px-[9px] font-[475] text-ink-2 hover:bg-hover aria-[current]:bg-press aria-[current]:font-strong aria-[current]:text-ink max-md:aria-[current]:text-accent max-xl:justify-center ${IN_BAR}`}
    >
      <Icon className="size-4 flex-none text-ink-3 group-aria-[current]:text-accent" strokeWidth={1.5} aria-hidden />
      <BarLabel>{label}</BarLabel>
      <span className="max-xl:sr-only">{label}</span>
      {screen === 'events' && <Rate />}
      {screen === 'deliveries' && <HeldCount />}
      {screen === 'rejections' && <RejectedCount />}
      {screen === 'alerts' && <AlertCount />}
    </To>
  )
}

/** Events a second, while they arrive. */
function Rate(): ReactElement | null {
  const { perSecond } = useTail()
  return perSecond === 0 ? null : (
    <span className="mono ml-auto text-label font-control text-ink-3 max-xl:hidden">{perSecond}/s</span>
  )
}

/** The deliveries that a failing destination holds back now. */
function HeldCount(): ReactElement | null {
  const holds = useHolds().data?.holds ?? []
  const held = holds
    .filter(({ cause }) => TROUBLE_CAUSES.has(cause))
    .reduce((sum, { deliveries }) => sum + deliveries, 0)
  return <Count of={held} word="held back" isBad />
}

const ALERTS_MS = 30_000

/** The alerts that are open now. */
function AlertCount(): ReactElement | null {
  const asked = useAsk(
    ['alerts', 'count'],
    (client, signal) => client.alerts.list({ state: 'open', limit: 1 }, { signal }),
    { everyMs: ALERTS_MS },
  )
  return <Count of={asked.data?.open ?? 0} word="open" isBad />
}

function RejectedCount(): ReactElement | null {
  return <Count of={useSummary()?.totals.rejected ?? 0} word="rejected in 24 h" />
}

function Count({
  of,
  word,
  isBad = false,
}: {
  readonly of: number
  readonly word: string
  readonly isBad?: boolean
}): ReactElement | null {
  if (of === 0) return null
  return (
    <span
      title={`${of.toLocaleString('en')} ${word}`}
      className={`mono ml-auto text-label font-control ${isBad ? 'rounded-chip bg-fail-soft px-1 text-fail max-xl:absolute max-xl:top-1 max-xl:right-1.5 max-md:right-[calc(50%-14px)] max-xl:size-1.5 max-xl:rounded-full max-xl:bg-fail max-xl:p-0' : 'text-ink-2 max-xl:hidden'}`}
    >
      <span className={isBad ? 'max-xl:sr-only' : ''}>{of.toLocaleString('en')}</span>{' '}
      <span className="sr-only">{word}</span>
    </span>
  )
}

function useIsInSettings(): boolean {
  const screen = useLocation().pathname.split('/')[3] ?? ''
  return SETTINGS_ITEMS.some((item) => item.screen === screen)
}

/** The link to the settings; on a phone it is in the menu of the person. */
function SettingsLink(): ReactElement {
  const isHere = useIsInSettings()
  return (
    <To
      screen="workspace"
      title="Settings"
      {...(isHere ? { 'aria-current': 'page' as const } : {})}
      className="group mt-1 flex h-7 items-center gap-[9px] rounded-row px-[9px] font-[475] text-ink-2 hover:bg-hover aria-[current]:bg-press aria-[current]:font-strong aria-[current]:text-ink max-xl:mt-auto max-xl:justify-center max-md:hidden"
    >
      <Settings
        className="size-4 flex-none text-ink-3 group-aria-[current]:text-accent"
        strokeWidth={1.5}
        aria-hidden
      />
      <span className="max-xl:sr-only">Settings</span>
    </To>
  )
}

/** The events of the month, and the limit of the plan, if it has one. */
function Usage(): ReactElement | null {
  const { me, projects } = usePlace()
  const usage = useSummary()?.usage
  if (usage === undefined) return null
  const { month } = usage
  const look = {
    title: `Events of ${month}`,
    className: 'mt-auto rounded-row px-2 py-1.5 text-data text-ink-3 max-xl:hidden',
  }
  if (me.role !== 'owner')
    return (
      <div {...look}>
        <UsageOf of={usage} isOfSeveral={projects.length > 1} />
      </div>
    )
  return (
    <To screen="billing" title={look.title} className={`${look.className} block hover:bg-hover`}>
      <UsageOf of={usage} isOfSeveral={projects.length > 1} />
    </To>
  )
}

type EventUsage = { readonly events: number; readonly max_events: number | null }

function UsageOf({
  of: { events, max_events },
  isOfSeveral,
}: {
  readonly of: EventUsage
  /** The workspace has other projects, and their events count too. */
  readonly isOfSeveral: boolean
}): ReactElement {
  return (
    <>
      <span className="flex items-baseline justify-between gap-2">
        <span className="text-ink-2">
          {max_events === null ? 'Events this month' : isOfSeveral ? 'Events, all projects' : 'Events'}
        </span>
        <span className="mono text-label">
          {events.toLocaleString('en')}
          {max_events !== null && ` of ${max_events.toLocaleString('en')}`}
        </span>
      </span>
      {max_events !== null && (
        <span aria-hidden className="mt-1.5 block h-[3px] rounded-full bg-line-2">
          <span
            className={`block h-full rounded-full ${events >= max_events ? 'bg-fail' : 'bg-ink-3'}`}
            style={{ width: `${Math.min(100, (events / max_events) * 100)}%` }}
          />
        </span>
      )}
    </>
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
      className={`flex h-9 w-full items-center gap-[9px] rounded-field px-2 text-left hover:bg-hover max-md:text-ink-2 max-xl:justify-center ${IN_BAR}`}
    >
      <Mark />
      <BarLabel>Project</BarLabel>
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
  { theme: 'system', label: 'System' },
]

function Person(): ReactElement {
  const { me } = usePlace()
  const theme = useTheme()
  const go = useGo()
  const signOut = useSignOut()
  const isHere = useIsInSettings()
  const name = me.user.name === '' ? (me.user.email ?? '') : me.user.name
  const items: MenuItem[] = [
    { label: 'Account', go: () => location.assign('/account') },
    { label: 'Settings', go: () => go('workspace') },
    ...(me.role === 'owner' ? [{ label: 'Billing', go: () => go('billing') }] : []),
    { label: 'Announcements', go: () => go('announcements') },
    ...(me.operator ? [{ label: 'Operators', go: () => go('operator') }] : []),
    'line',
    ...THEMES.map((one) => ({
      label: one.label,
      hint: one.theme === theme ? '✓' : '',
      go: () => chooseTheme(one.theme),
    })),
    'line',
    { label: 'Sign out', go: signOut },
  ]
  return (
    <footer className="pt-1 max-md:p-0">
      <Menu
        items={items}
        className={`flex h-8 w-full items-center gap-[9px] rounded-button px-2 text-left text-ink-2 hover:bg-hover max-xl:justify-center ${IN_BAR} ${isHere ? 'max-md:bg-press max-md:text-accent' : ''}`}
      >
        <span
          aria-hidden
          className="size-5 flex-none rounded-full bg-[linear-gradient(140deg,oklch(.50_.09_205),oklch(.42_.09_235))] text-center text-[9px] leading-5 font-[600] text-[#fff]"
        >
          {name.slice(0, 1).toUpperCase()}
        </span>
        <BarLabel>Account</BarLabel>
        <span className="truncate max-xl:hidden">{name}</span>
        <span className="sr-only">Account, theme and sign out</span>
        <ChevronsUpDown className="ml-auto size-3.5 flex-none text-ink-3 max-xl:hidden" strokeWidth={1.5} aria-hidden />
      </Menu>
    </footer>
  )
}
