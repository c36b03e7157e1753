import { useVirtualizer } from '@tanstack/react-virtual'
import { clsx } from 'clsx'
import {
  useEffect,
  useId,
  useMemo,
  useRef,
  type CSSProperties,
  type MouseEvent,
  type ReactElement,
  type ReactNode,
} from 'react'
import { openInTab } from './in-tab.ts'
import { dayText } from './moments.ts'
import { useIsNarrow } from './width.ts'

export type Column<Row> = {
  readonly id: string
  readonly label: string
  /** A track of a CSS grid: `96px`, `minmax(0,1fr)`. */
  readonly width: string
  readonly align?: 'right'
  /** The head is for screen readers only. */
  readonly hidden?: true
  /** The cell explains itself, so it has no label where the list is too narrow for a head. */
  readonly plain?: true
  readonly cell: (row: Row) => ReactNode
}

/** The selection of rows, for actions on several of them. */
type Marking = {
  readonly has: (id: string) => boolean
  readonly toggle: (id: string) => void
  readonly extend: (id: string) => void
}

type Props<Row> = {
  readonly label: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly idOf: (row: Row) => string
  /** The id of the row that is open or has the cursor. */
  readonly at?: string | undefined
  readonly onGo: (row: Row) => void
  /** Whether a row opens nothing, such as a gap. Absent: every row opens something. */
  readonly isFixed?: ((row: Row) => boolean) | undefined
  /** Rows that have just arrived. */
  readonly isNew?: (row: Row) => boolean
  readonly rowHeight?: number
  /** The time of a row, newest first: a divider starts each day. Give a stable function. */
  readonly timeOf?: (row: Row) => string
  /** Between the head and the rows. */
  readonly strip?: ReactNode
  /** Below the last row. */
  readonly end?: ReactNode
  readonly onScroll?: (top: number) => void
  readonly onEnd?: () => void
  readonly marks?: Marking | undefined
}

const OVERSCAN = 8
const NEAR_END = 20
/** Below this width a row shows its cells under each other. */
const NARROW_PX = 520
const SLIM_COLUMNS = 3
const DIVIDER_PX = 24
const MIDDLE_BUTTON = 1

/**
 * The list of every screen. Only the rows in sight are in the page, however many there are. Rows have one height, lines
 * divide them, and the current row has the accent. Every ancestor must set its height (`min-h-0`).
 */
export function Table<Row>(props: Props<Row>): ReactElement {
  const { label, columns, rows, idOf, at, rowHeight = 40, strip, end, onScroll, onEnd, marks, timeOf } = props
  const scroller = useRef<HTMLDivElement>(null)
  const isStacked = useIsNarrow(scroller, NARROW_PX) && columns.length > SLIM_COLUMNS
  const id = useId()
  const days = useMemo(() => daysOf(rows, timeOf), [rows, timeOf])
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => rowHeight * (isStacked ? 2 : 1) + (days.has(index) ? DIVIDER_PX : 0),
    overscan: OVERSCAN,
    // A row has another height under each layout, so it is another item.
    getItemKey: (index) => `${isStacked ? 'stacked ' : ''}${rows[index] === undefined ? index : idOf(rows[index])}`,
  })
  const index = at === undefined ? -1 : rows.findIndex((row) => idOf(row) === at)
  useKeepInSight(at, () => index >= 0 && virtual.scrollToIndex(index, { align: 'auto' }))
  const shown = virtual.getVirtualItems()
  const topDay = dayAt(days, virtual.range?.startIndex ?? 0)
  const last = shown.at(-1)?.index ?? 0
  useEffect(() => {
    if (rows.length > 0 && last >= rows.length - NEAR_END) onEnd?.()
  }, [last, rows.length, onEnd])
  const tracks: CSSProperties = {
    gridTemplateColumns: [...(marks === undefined ? [] : ['16px']), ...columns.map(({ width }) => width)].join(' '),
  }
  return (
    <div
      role="grid"
      aria-label={label}
      aria-rowcount={rows.length + 1}
      tabIndex={0}
      // A person can scroll the current row out of the page.
      aria-activedescendant={shown.some((item) => item.index === index) ? `${id}-${index}` : undefined}
      className="flex min-h-0 flex-1 flex-col outline-none focus-visible:shadow-[inset_0_0_0_2px_var(--accent)]"
    >
      <div
        role="row"
        aria-rowindex={1}
        style={tracks}
        className={
          isStacked
            ? 'sr-only'
            : 'grid h-7 flex-none items-center gap-x-2.5 border-b border-line px-[18px] text-meta text-ink-3'
        }
      >
        {marks !== undefined && (
          <span role="columnheader">
            <span className="sr-only">Selected</span>
          </span>
        )}
        {columns.map((column, track) => (
          <span role="columnheader" key={column.id} className={clsx('truncate', alignOf(columns, track))}>
            {column.hidden === true ? <span className="sr-only">{column.label}</span> : column.label}
          </span>
        ))}
      </div>
      {strip !== undefined && strip !== false && <Wide>{strip}</Wide>}
      <div
        ref={scroller}
        role="rowgroup"
        // Rows without a checkbox have nothing to focus, so the keyboard scrolls the list itself.
        tabIndex={marks === undefined ? 0 : -1}
        className="min-h-0 flex-1 overflow-y-auto outline-none [overflow-anchor:none] focus-visible:shadow-[inset_0_0_0_2px_var(--accent)]"
        onScroll={(event) => onScroll?.(event.currentTarget.scrollTop)}
      >
        {topDay !== undefined && (
          <div aria-hidden className="sticky top-0 z-1 h-0">
            <Day>{topDay}</Day>
          </div>
        )}
        <div role="presentation" className="relative" style={{ height: virtual.getTotalSize() }}>
          {shown.map((item) => {
            const row = rows[item.index]
            const day = days.get(item.index)
            return row === undefined ? null : (
              <div
                key={item.key}
                role="presentation"
                data-index={item.index}
                ref={isStacked ? virtual.measureElement : undefined}
                className="absolute inset-x-0 top-0"
                style={{ transform: `translateY(${item.start}px)` }}
              >
                {day !== undefined && <Day>{day}</Day>}
                <Line
                  {...props}
                  row={row}
                  id={`${id}-${item.index}`}
                  rowIndex={item.index + 2}
                  here={item.index === index}
                  isStacked={isStacked}
                  style={isStacked ? {} : { ...tracks, height: rowHeight }}
                />
              </div>
            )
          })}
        </div>
        {end !== undefined && end !== null && <Wide>{end}</Wide>}
      </div>
    </div>
  )
}

/** Text on the left after a number on the right needs more room between them. */
// oxlint-disable-next-line max-params -- a column is an index in the list
function alignOf<Row>(columns: readonly Column<Row>[], track: number): string | undefined {
  if (columns[track]?.align === 'right') return 'text-right'
  return columns[track - 1]?.align === 'right' ? 'pl-3' : undefined
}

/** The days that start in a list with the newest row first, by the index of their first row. The current day needs no divider. */
function daysOf<Row>(rows: readonly Row[], timeOf: Props<Row>['timeOf']): ReadonlyMap<number, string> {
  const days = new Map<number, string>()
  if (timeOf === undefined) return days
  let start = startOfDay(new Date())
  for (const [index, row] of rows.entries()) {
    const at = timeOf(row)
    if (at >= start) continue
    days.set(index, dayText(at))
    start = startOfDay(new Date(at))
  }
  return days
}

/** A time in the format of the server, so that both compare as text. */
function startOfDay(moment: Date): string {
  return new Date(moment.getFullYear(), moment.getMonth(), moment.getDate()).toISOString()
}

function dayAt(days: ReadonlyMap<number, string>, index: number): string | undefined {
  return [...days].findLast(([start]) => start <= index)?.[1]
}

/** Content over the whole width, in a separate row, because a grid can contain only rows. */
function Wide({ children }: { readonly children: ReactNode }): ReactElement {
  return (
    <div role="row" className="flex-none">
      <div role="gridcell">{children}</div>
    </div>
  )
}

/** The divider between two days; each row has its full time for screen readers. */
function Day({ children }: { readonly children: string }): ReactElement {
  return (
    <div
      aria-hidden
      className="flex h-6 items-center border-b border-line/55 bg-sunken pl-[18px] text-label font-control text-ink-3"
    >
      {children}
    </div>
  )
}

type LineProps<Row> = Pick<Props<Row>, 'columns' | 'onGo' | 'isFixed' | 'isNew' | 'idOf' | 'marks'> & {
  readonly row: Row
  readonly id: string
  readonly rowIndex: number
  readonly here: boolean
  readonly isStacked: boolean
  readonly style: CSSProperties
}

/** Ctrl, ⌘ or the middle button opens a row in another tab, as it opens a link. */
function openingOf<Row>({ row, idOf, onGo, isFixed }: Pick<LineProps<Row>, 'row' | 'idOf' | 'onGo' | 'isFixed'>) {
  const inTab = (): void => {
    if (isFixed?.(row) !== true) openInTab(idOf(row))
  }
  return {
    onClick: ({ ctrlKey, metaKey }: MouseEvent) => (ctrlKey || metaKey ? inTab() : onGo(row)),
    // Otherwise the middle button starts to scroll the list.
    onMouseDown: (event: MouseEvent) => event.button === MIDDLE_BUTTON && event.preventDefault(),
    onAuxClick: ({ button, target }: MouseEvent) =>
      button === MIDDLE_BUTTON && target instanceof Element && target.closest('a, button, input') === null && inTab(),
  }
}

function Line<Row>({
  row,
  columns,
  onGo,
  isFixed,
  isNew,
  idOf,
  marks,
  here,
  id,
  rowIndex,
  isStacked,
  style,
}: LineProps<Row>): ReactElement {
  const isSelected = marks?.has(idOf(row)) === true
  return (
    <div
      role="row"
      id={id}
      aria-rowindex={rowIndex}
      aria-selected={here}
      style={style}
      {...openingOf({ row, idOf, onGo, isFixed })}
      className={clsx(
        'group relative border-b border-line/55 px-[18px]',
        !here && 'hover:bg-hover',
        isStacked ? 'flex items-start gap-x-2.5 py-1.5' : 'grid items-center gap-x-2.5',
        here && 'bg-accent-soft before:absolute before:inset-y-0 before:left-0 before:w-0.5 before:bg-accent',
        isSelected && !here && 'bg-accent-soft/60',
        isNew?.(row) === true && 'animate-arrive',
      )}
    >
      {marks !== undefined && (
        <MarkCell
          isSelected={isSelected}
          isAtEnd={isStacked}
          mark={(isRange) => (isRange ? marks.extend : marks.toggle)(idOf(row))}
        />
      )}
      {isStacked ? (
        <Stack columns={columns} row={row} />
      ) : (
        columns.map((column, track) => (
          <span role="gridcell" key={column.id} className={clsx('min-w-0', alignOf(columns, track))}>
            {column.cell(row)}
          </span>
        ))
      )}
    </div>
  )
}

/**
 * The cells of a row in a narrow list: the shape first, then wide cells on their own lines and narrow ones beside each other.
 * A cell without a value is left out with its label.
 */
function Stack<Row>({ columns, row }: Pick<Props<Row>, 'columns'> & { readonly row: Row }): ReactElement {
  const shape = columns.filter(({ hidden }) => hidden === true)
  const cells = columns.filter(({ hidden }) => hidden !== true)
  return (
    <>
      {shape.map((column) => (
        <span role="gridcell" key={column.id} className="flex h-5 flex-none items-center">
          {column.cell(row)}
        </span>
      ))}
      <span role="presentation" className="flex min-w-0 flex-1 flex-wrap items-center gap-x-4 gap-y-0.5">
        {cells.map((column) => {
          const content = column.cell(row)
          return content === null ? null : (
            <span
              role="gridcell"
              key={column.id}
              className={clsx(
                'flex max-w-full min-w-0 items-center gap-1.5 has-[[data-none],[data-inline]:empty]:hidden',
                column.width.includes('fr') && 'basis-full',
              )}
            >
              {column.plain !== true && (
                <span aria-hidden className="flex-none text-label text-ink-3">
                  {column.label}
                </span>
              )}
              <span data-inline={column.plain !== true || undefined} className="group/cell min-w-0">
                {content}
              </span>
            </span>
          )
        })}
      </span>
    </>
  )
}

/** Visible when the row is selected or under the pointer; with Shift it selects a range. Keys select the current row. */
function MarkCell({
  isSelected,
  isAtEnd,
  mark,
}: {
  readonly isSelected: boolean
  /** At the end of a stacked row, where it is always visible: a touch screen has no pointer over it. */
  readonly isAtEnd: boolean
  readonly mark: (isRange: boolean) => void
}): ReactElement {
  return (
    <span
      role="gridcell"
      className={clsx('grid size-6 flex-none place-items-center', isAtEnd ? 'order-last -mr-2' : '-ml-2')}
    >
      <input
        type="checkbox"
        tabIndex={-1}
        aria-label="Select"
        title="Select (x)"
        checked={isSelected}
        onChange={() => undefined}
        onClick={(event) => {
          event.stopPropagation()
          mark(event.shiftKey)
        }}
        className={clsx(
          'size-3.5 accent-(--accent)',
          !isAtEnd && 'opacity-0 group-hover:opacity-100 checked:opacity-100 focus-visible:opacity-100',
        )}
      />
    </span>
  )
}

/** Scrolls when another row becomes the current one, and never when rows arrive. */
function useKeepInSight(at: string | undefined, show: () => unknown): void {
  const before = useRef(at)
  useEffect(() => {
    if (at !== before.current) show()
    before.current = at
  })
}

/** A name with a quieter line below: the second column of most lists. */
export function TwoLines({ top, below }: { readonly top: ReactNode; readonly below: ReactNode }): ReactElement {
  return (
    <span className="flex min-w-0 flex-col group-data-inline/cell:flex-row group-data-inline/cell:items-baseline group-data-inline/cell:gap-2">
      <b className="truncate leading-4 font-strong">{top}</b>
      <span className="truncate text-label leading-[14px] text-ink-3">{below}</span>
    </span>
  )
}
