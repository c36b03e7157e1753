import { useLocation } from '@tanstack/react-router'
import { useEffect, useRef, type ComponentProps, type ReactElement, type ReactNode } from 'react'
import { To, useGo } from '../data/go.tsx'
import { usePlace, useRefusal } from '../data/place.ts'
import { SETTINGS, SETTINGS_ITEMS, type SettingsItem } from '../shell/settings.ts'
import { FoldedViews, Page, ProjectSlug } from '../ui/page.tsx'
import { PartHeading } from './detail.tsx'

/** The person opened a page of the list with Enter. The next page has another list, which takes the focus. */
let isByKey = false

const EVERYBODY = { role: 'viewer', whileSuspended: 'read' } as const

/** A page of "Settings", with the list of all of them beside it, or a menu above it where there is no room. */
export function SettingsPage(props: ComponentProps<typeof Page>): ReactElement {
  return (
    <InSettings>
      <PartHeading value="h2">
        <Page {...props} />
      </PartHeading>
    </InSettings>
  )
}

/** The same list and menu around a screen that is a page already. */
export function InSettings({ children }: { readonly children: ReactNode }): ReactElement {
  const { me } = usePlace()
  const go = useGo()
  const list = useRef<HTMLElement>(null)
  useEffect(() => {
    if (isByKey) list.current?.querySelector<HTMLElement>('[aria-current]')?.focus()
    isByKey = false
  }, [])
  const here = useLocation().pathname.split('/')[3] ?? ''
  const mayOpen = ({ isForOperators }: SettingsItem): boolean => isForOperators !== true || me.operator
  return (
    <div className="grid h-full min-h-0 grid-cols-[176px_minmax(0,1fr)] grid-rows-[minmax(0,1fr)] max-lg:grid-cols-[minmax(0,1fr)] max-lg:grid-rows-[auto_minmax(0,1fr)]">
      <nav
        ref={list}
        aria-label="Settings"
        className="flex min-h-0 flex-col gap-px overflow-y-auto border-r border-line px-2 py-2.5 max-lg:hidden"
      >
        {SETTINGS.map(({ label, items }) => (
          <div key={label} className="flex flex-col gap-px">
            <h2 className="px-[9px] pt-2.5 pb-1 text-label font-control text-ink-3">{label}</h2>
            {items.filter(mayOpen).map((item) => (
              <Item key={item.screen} item={item} isHere={item.screen === here} />
            ))}
          </div>
        ))}
      </nav>
      <div className="flex items-center gap-2 border-b border-line px-[18px] py-1.5 lg:hidden">
        <span className="text-ink-3">Settings</span>
        <FoldedViews
          label="Settings"
          of={SETTINGS_ITEMS.filter(mayOpen).map(({ screen, label }) => ({ id: screen, label }))}
          at={SETTINGS_ITEMS.find(({ screen }) => screen === here)?.screen ?? 'workspace'}
          go={go}
        />
      </div>
      <div className="min-h-0 min-w-0">
        <ProjectSlug value={undefined}>{children}</ProjectSlug>
      </div>
    </div>
  )
}

/** A page that the person's role cannot open stays in the list, dimmed, and names the role that can. */
function Item({
  item: { screen, label, reads },
  isHere,
}: {
  readonly item: SettingsItem
  readonly isHere: boolean
}): ReactElement {
  const refusal = useRefusal(reads ?? EVERYBODY)
  return (
    <To
      screen={screen}
      title={refusal ?? label}
      onClick={({ detail }) => {
        isByKey = detail === 0 && !isHere
      }}
      {...(isHere ? { 'aria-current': 'page' as const } : {})}
      className={`flex h-7 items-center rounded-row px-[9px] font-[475] hover:bg-hover aria-[current]:bg-press aria-[current]:font-strong aria-[current]:text-ink ${refusal === undefined ? 'text-ink-2' : 'text-ink-3 italic'}`}
    >
      {label}
    </To>
  )
}
