import { useState, type ReactElement, type ReactNode } from 'react'
import { useSearchState } from '../data/go.tsx'
import { usePlace } from '../data/place.ts'
import { useKeys } from '../shell/keys.ts'
import { useCopy } from '../ui/copy.tsx'
import { MoreMenu, type MenuItem } from '../ui/menu.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { adminCurl } from './commands.ts'
import { useCopyItems } from './copy-as.tsx'
import { Detail } from './detail.tsx'
import { RemoveDialog, type Removal } from './remove-dialog.tsx'
import type { ResourceSearch } from './resource-screen.tsx'

type Tabbed = { readonly id: string; readonly label: string }
/** The first is open when the address names no tab. */
type TabList = readonly [Tabbed, ...Tabbed[]]
/** The items that every menu has; each screen orders them among its own. */
type Items = {
  /** The call that reads the thing, in each form; the key `c` copies the curl form. */
  readonly calls: readonly MenuItem[]
  readonly copied: MenuItem
  readonly link: MenuItem
  readonly remove: MenuItem
}

type Props = {
  readonly label: string
  readonly name: string
  /** The path below the project in the admin API: `rules/rul_…`; absent if no key may read it. */
  readonly path?: string
  readonly chip: ReactElement
  readonly meta: ReactNode
  /** The text that `y` copies. */
  readonly copied: { readonly label: string; readonly text: string; readonly said: string }
  /** Beside the menu. */
  readonly actions: ReactNode
  readonly items: (shared: Items) => readonly MenuItem[]
  /** Above the tabs. */
  readonly above?: ReactNode
  readonly tabs: TabList
  readonly remove: Removal & { readonly may: boolean }
  readonly onClose: () => void
  readonly dialogs?: ReactNode
  /** The content of the open tab. */
  readonly children: ReactNode
}

/** The tab that the address names. */
export function useTab<Tabs extends TabList>(tabs: Tabs): Tabs[number] {
  const [{ tab }] = useSearchState<ResourceSearch>()
  return tabs.find(({ id }) => id === tab) ?? tabs[0]
}

/** One thing beside its list: its tabs by number, the texts to copy, and its removal. */
export function ResourceDetail({
  label,
  name,
  path,
  chip,
  meta,
  copied,
  actions,
  items,
  above,
  tabs,
  remove,
  onClose,
  dialogs,
  children,
}: Props): ReactElement {
  const [, setSearch] = useSearchState<ResourceSearch>()
  const [isRemoving, setRemoving] = useState(false)
  const { project } = usePlace()
  const copy = useCopy()
  const tab = useTab(tabs)
  const calls = useCopyItems(path === undefined ? undefined : { path })
  const go = (to: string): void => setSearch({ tab: to === tabs[0].id ? undefined : to })
  const curl = (): void => void (path !== undefined && copy(adminCurl({ project, path }), 'Copied as curl'))
  const y = (): void => void copy(copied.text, copied.said)
  useKeys({ c: curl, y, ...Object.fromEntries(tabs.map(({ id }, index) => [String(index + 1), () => go(id)])) })
  const shared: Items = {
    calls: path === undefined ? [] : [{ label: 'Copy as curl', hint: 'c', go: curl }, ...calls.slice(1)],
    copied: { label: copied.label, hint: 'y', go: y },
    link: { label: 'Copy link', go: () => void copy(location.href, 'Link copied') },
    remove: { label: `${remove.verb}…`, danger: true, disabled: !remove.may, go: () => setRemoving(true) },
  }
  return (
    <Detail
      label={label}
      title={name}
      chip={chip}
      onClose={onClose}
      meta={meta}
      actions={
        <>
          {actions}
          <MoreMenu items={items(shared)} />
        </>
      }
    >
      {above}
      <Tabs label={label} tabs={tabs} at={tab.id} go={go}>
        {children}
      </Tabs>
      {dialogs}
      {isRemoving && (
        <RemoveDialog name={name} removal={remove} onClose={() => setRemoving(false)} onRemoved={onClose} />
      )}
    </Detail>
  )
}
