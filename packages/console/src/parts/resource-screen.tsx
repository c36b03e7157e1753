import type { UseQueryResult } from '@tanstack/react-query'
import { Search } from 'lucide-react'
import { useEffect, useMemo, useRef, useState, type ComponentType, type ReactElement, type ReactNode } from 'react'
import { useSearchState } from '../data/go.tsx'
import { useRefusal, type useMay } from '../data/place.ts'
import type { Search as Terms } from '../data/search-text.ts'
import { useKeys } from '../shell/keys.ts'
import { useCommands } from '../shell/palette-provider.tsx'
import { Button, Kbd } from '../ui/button.tsx'
import { MoreMenu, type MenuItem } from '../ui/menu.tsx'
import { Page } from '../ui/page.tsx'
import { Empty, Loading, Refused, Stale } from '../ui/states.tsx'
import { Table, type Column } from '../ui/table.tsx'
import { useCopyItemsOf } from './copy-as.tsx'
import { PanelState } from './panel-state.tsx'
import { ResourceViews } from './resource-views.tsx'
import { counted } from './text-list.ts'

export type ResourceSearch = Terms & {
  readonly q?: string
  readonly view?: string
  readonly sel?: string
  readonly tab?: string
  /** Opens the dialog that creates one. */
  readonly new?: string
}

type Row = { readonly id: string; readonly name: string }

type Props<R extends Row> = {
  readonly title: string
  /** The word for one of them, in the middle of a sentence: `destination`. */
  readonly one: string
  /** For several, where an "s" is not enough: `people`. */
  readonly many?: string
  readonly asked: UseQueryResult<readonly R[]>
  readonly columns: readonly Column<R>[]
  /** The columns while a row is open beside the list. */
  readonly slim: readonly Column<R>[]
  /** The text that the filter searches. */
  readonly textOf: (row: R) => string
  /** The first has the id '' and contains every row. */
  readonly views: readonly { readonly id: string; readonly label: string; readonly has: (row: R) => boolean }[]
  readonly create: Create
  /** The text of the empty list, beside the button that creates the first item. */
  readonly never: { readonly title: string; readonly text: ReactNode; readonly also?: ReactNode }
  readonly detail: ComponentType<{ readonly row: R; readonly onClose: () => void }>
  /** The path below the project in the admin API: `rules`; absent if no key may read it. */
  readonly path?: string
  /** Further lists of the API whose items are in this list, with the word for each. */
  readonly alsoLists?: readonly { readonly path: string; readonly what: string }[]
  /** The word for the list of `path`, when there are others. */
  readonly listWord?: string
  /** The items of the menu of the list, instead of those of `path`. */
  readonly listItems?: readonly MenuItem[]
  /** Before the filter. */
  readonly actions?: ReactNode
}

type Create = {
  readonly label: string
  /** The route that creates an item; it declares the required role. */
  readonly route: Parameters<typeof useMay>[0]
  readonly dialog: ComponentType<{ readonly onClose: () => void; readonly onMade: (id: string) => void }>
  /** The tab in which the created thing opens. */
  readonly tab?: string
}

/** The screen of one kind of thing: a list with a filter and views, and the selected one beside it. */
export function ResourceScreen<R extends Row>(props: Props<R>): ReactElement {
  const { title, one, many, asked, views, create } = props
  const [search, setSearch] = useSearchState<ResourceSearch>()
  const making = useMaking(create)
  const found = useFound(props, search)
  const field = useRef<HTMLInputElement>(null)
  const open = (sel: string | undefined): void => setSearch({ sel, ...(sel === undefined ? { tab: undefined } : {}) })
  const here = found.findIndex(({ id }) => id === search.sel)
  const step = (by: number): void => {
    const to = found[Math.max(0, Math.min(found.length - 1, here + by))]
    if (to !== undefined) open(to.id)
  }
  useKeys({
    j: () => step(1),
    k: () => step(-1),
    ArrowDown: () => step(1),
    ArrowUp: () => step(-1),
    Escape: () => open(undefined),
    '/': () => field.current?.focus(),
    n: making.begin,
  })
  const isOpen = search.sel !== undefined
  return (
    <div
      className={`grid h-full min-h-0 grid-rows-[minmax(0,1fr)] ${isOpen ? 'grid-cols-[minmax(0,300px)_minmax(0,1fr)] max-lg:grid-cols-1' : 'grid-cols-1'}`}
    >
      <div className={`min-h-0 min-w-0 ${isOpen ? 'max-lg:hidden' : ''}`}>
        <Page
          title={title}
          beside={!isOpen && <ResourceViews views={views} search={search} go={setSearch} />}
          actions={
            <>
              {!isOpen && (
                <Filter
                  value={search.q ?? ''}
                  change={(q) => setSearch({ q: q === '' ? undefined : q })}
                  label={`Filter ${title.toLowerCase()}`}
                  field={field}
                />
              )}
              {!isOpen && props.actions}
              {!isOpen && <ListMenu {...props} />}
              <Button
                kind={isOpen ? 'normal' : 'primary'}
                {...(isOpen ? {} : { hotkey: 'N' })}
                disabled={making.refused !== undefined}
                title={making.refused ?? create.label}
                onClick={making.begin}
              >
                {isOpen && create.label.startsWith('New ') ? 'New' : create.label}
              </Button>
            </>
          }
          foot={
            <>
              <span>{asked.data !== undefined && counted(found.length, one, many)}</span>
              {!isOpen && (
                <span className="ml-auto flex items-center gap-1 max-md:hidden">
                  <Kbd>J</Kbd>
                  <Kbd>K</Kbd> move <Kbd>/</Kbd> filter <Kbd>?</Kbd> shortcuts
                </span>
              )}
            </>
          }
        >
          {asked.error !== null && asked.data !== undefined && (
            <Stale since={asked.dataUpdatedAt} error={asked.error} again={asked.refetch} />
          )}
          <Body
            {...props}
            found={found}
            search={search}
            making={making}
            isOpen={isOpen}
            open={open}
            clear={() => setSearch({ q: undefined, view: undefined })}
          />
        </Page>
      </div>
      {isOpen && <Opened {...props} id={search.sel ?? ''} onClose={() => open(undefined)} />}
      {making.dialog}
    </div>
  )
}

type Making = { readonly refused: string | undefined; readonly begin: () => void; readonly dialog: ReactElement | null }

/** The creation of an item: the role, the open dialog, and the way to the result. */
function useMaking({ label, route, dialog: Dialog, tab }: Create): Making {
  const [search, setSearch] = useSearchState<ResourceSearch>()
  const [isOpen, setOpen] = useState(false)
  const refusal = useRefusal(route)
  const may = refusal === undefined
  // A link of another screen asked for the dialog. The request counts once, so Back does not open it again.
  if (search.new !== undefined && may && !isOpen) setOpen(true)
  const isAsked = search.new !== undefined
  useEffect(() => {
    if (isAsked) setSearch({ new: undefined })
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- the setter is a new function each time
  }, [isAsked])
  useCommands(useMemo(() => (may ? [{ label, hint: 'n', go: () => setOpen(true) }] : []), [label, may]))
  const close = (): void => setOpen(false)
  const made = (sel: string): void => {
    close()
    setSearch({ sel, ...(tab === undefined ? {} : { tab }), q: undefined, view: undefined })
  }
  return {
    refused: refusal,
    begin: () => may && setOpen(true),
    dialog: isOpen ? <Dialog onClose={close} onMade={made} /> : null,
  }
}

/** The list as commands to copy. */
function ListMenu({
  path,
  listWord = 'the list',
  alsoLists = [],
  listItems,
}: Pick<Props<Row>, 'path' | 'listWord' | 'alsoLists' | 'listItems'>): ReactElement | null {
  const itemsOf = useCopyItemsOf()
  const others: readonly MenuItem[] = alsoLists.flatMap(({ path: at, what }) => [
    'line',
    ...itemsOf({ path: at }, what),
  ])
  const own = path === undefined ? [] : itemsOf({ path }, listWord)
  const items = listItems ?? [...own, ...others]
  return items.length === 0 ? null : <MoreMenu items={items} />
}

function useFound<R extends Row>({ asked, textOf, views }: Props<R>, { q = '', view }: ResourceSearch): readonly R[] {
  const text = q.trim().toLowerCase()
  const { has } = views.find(({ id }) => id === view) ?? { has: () => true }
  return (asked.data ?? []).filter((row) => has(row) && textOf(row).toLowerCase().includes(text))
}

type BodyProps<R extends Row> = Props<R> & {
  readonly found: readonly R[]
  readonly search: ResourceSearch
  readonly making: Making
  readonly isOpen: boolean
  readonly open: (id: string) => void
  readonly clear: () => void
}

function Body<R extends Row>({
  asked,
  found,
  search,
  making,
  isOpen,
  open,
  clear,
  columns,
  slim,
  title,
  one,
  many,
  create,
  never,
}: BodyProps<R>): ReactElement {
  if (asked.data === undefined)
    return asked.error === null ? <Loading height={48} /> : <Refused error={asked.error} again={asked.refetch} />
  if (asked.data.length === 0)
    return (
      <Empty
        title={never.title}
        actions={
          <>
            <Button
              kind="primary"
              hotkey="N"
              disabled={making.refused !== undefined}
              title={making.refused}
              onClick={making.begin}
            >
              {create.label}
            </Button>
            {never.also}
          </>
        }
      >
        {never.text}
      </Empty>
    )
  if (found.length === 0)
    return (
      <Empty title={`No ${one} matches`} actions={<Button onClick={clear}>Show all {asked.data.length}</Button>}>
        {search.q === undefined
          ? `This view has none of the ${counted(asked.data.length, one, many)}.`
          : `None of the ${counted(asked.data.length, one, many)} contains “${search.q}”.`}
      </Empty>
    )
  return (
    <Table
      label={title}
      columns={isOpen ? slim : columns}
      rows={found}
      idOf={({ id }) => id}
      at={search.sel}
      onGo={({ id }) => open(id)}
      rowHeight={48}
    />
  )
}

function Opened<R extends Row>({
  asked,
  id,
  detail: Shown,
  one,
  onClose,
}: Props<R> & { readonly id: string; readonly onClose: () => void }): ReactElement {
  const row = asked.data?.find((each) => each.id === id)
  if (row !== undefined) return <Shown key={row.id} row={row} onClose={onClose} />
  if (asked.data === undefined) return <PanelState label={one} asked={asked} onClose={onClose} />
  return (
    <section aria-label={one} className="border-l border-line">
      <Empty title={`There is no such ${one}`} actions={<Button onClick={onClose}>Back to the list</Button>}>
        Someone may have deleted it, or it is in another project.
      </Empty>
    </section>
  )
}

function Filter({
  value,
  change,
  label,
  field,
}: {
  readonly value: string
  readonly change: (text: string) => void
  readonly label: string
  readonly field: React.RefObject<HTMLInputElement | null>
}): ReactElement {
  return (
    <label className="flex h-7 w-44 items-center gap-2 rounded-button border border-line-2 bg-surface px-2 text-ink-3 focus-within:border-accent max-md:grow">
      <Search className="size-3.5 flex-none" strokeWidth={1.5} aria-hidden />
      <input
        ref={field}
        aria-label={label}
        placeholder="Filter"
        value={value}
        onChange={({ target }) => change(target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape') event.currentTarget.blur()
        }}
        className="min-w-0 flex-1 bg-transparent text-ink outline-none"
      />
      <Kbd>/</Kbd>
    </label>
  )
}
