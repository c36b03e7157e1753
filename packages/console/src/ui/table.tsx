import { useVirtualizer } from '@tanstack/react-virtual'
import { clsx } from 'clsx'
import { useEffect, useId, useRef, type CSSProperties, type ReactElement, type ReactNode } from 'react'

export type Column<Row> = {
  readonly id: string
  readonly label: string
  /** A track of a CSS grid: `96px`, `minmax(0,1fr)`. */
  readonly width: string
  readonly align?: 'right'
  /** The head is for screen readers only. */
  readonly hidden?: true
  readonly cell: (row: Row) => ReactNode
}

/** Rows that can be marked, to do something with many. */
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
  /** The id of the row that is open or under the cursor. */
  readonly at?: string | undefined
  readonly onGo: (row: Row) => void
  /** Rows that have just come. */
  readonly isNew?: (row: Row) => boolean
  readonly rowHeight?: number
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

/**
 * The list of every screen: only the rows in sight are in the page, however many there are. Rows keep their height, lines
 * divide, and the row that one is at has the accent. Every ancestor must have a height of its own (`min-h-0`).
 */
export function Table<Row>(props: Props<Row>): ReactElement {
  const { label, columns, rows, idOf, at, rowHeight = 40, strip, end, onScroll, onEnd, marks } = props
  const scroller = useRef<HTMLDivElement>(null)
  const id = useId()
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: OVERSCAN,
    getItemKey: (index) => (rows[index] === undefined ? index : idOf(rows[index])),
  })
  const index = at === undefined ? -1 : rows.findIndex((row) => idOf(row) === at)
  useKeepInSight(at, () => index >= 0 && virtual.scrollToIndex(index, { align: 'auto' }))
  const shown = virtual.getVirtualItems()
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
      aria-activedescendant={index < 0 ? undefined : `${id}-${index}`}
      className="flex min-h-0 flex-1 flex-col outline-none focus-visible:shadow-[inset_0_0_0_2px_var(--accent)]"
    >
      <div
        role="row"
        aria-rowindex={1}
        style={tracks}
        className="grid h-7 flex-none items-center gap-x-2.5 border-b border-line pr-[18px] pl-4 text-meta text-ink-3"
      >
        {marks !== undefined && (
          <span role="columnheader">
            <span className="sr-only">Marked</span>
          </span>
        )}
        {columns.map((column) => (
          <span role="columnheader" key={column.id} className={clsx(column.align === 'right' && 'text-right')}>
            {column.hidden === true ? <span className="sr-only">{column.label}</span> : column.label}
          </span>
        ))}
      </div>
      {strip}
      <div
        ref={scroller}
        role="rowgroup"
        tabIndex={-1}
        className="min-h-0 flex-1 overflow-y-auto outline-none [overflow-anchor:none]"
        onScroll={(event) => onScroll?.(event.currentTarget.scrollTop)}
      >
        <div role="presentation" className="relative" style={{ height: virtual.getTotalSize() }}>
          {shown.map((item) => {
            const row = rows[item.index]
            return row === undefined ? null : (
              <Line
                key={item.key}
                {...props}
                row={row}
                id={`${id}-${item.index}`}
                rowIndex={item.index + 2}
                here={item.index === index}
                style={{ ...tracks, height: rowHeight, transform: `translateY(${item.start}px)` }}
              />
            )
          })}
        </div>
        {end}
      </div>
    </div>
  )
}

type LineProps<Row> = Pick<Props<Row>, 'columns' | 'onGo' | 'isNew' | 'idOf' | 'marks'> & {
  readonly row: Row
  readonly id: string
  readonly rowIndex: number
  readonly here: boolean
  readonly style: CSSProperties
}

function Line<Row>({
  row,
  columns,
  onGo,
  isNew,
  idOf,
  marks,
  here,
  id,
  rowIndex,
  style,
}: LineProps<Row>): ReactElement {
  const isMarked = marks?.has(idOf(row)) === true
  return (
    <div
      role="row"
      id={id}
      aria-rowindex={rowIndex}
      aria-selected={here}
      style={style}
      onClick={() => onGo(row)}
      className={clsx(
        'group absolute inset-x-0 top-0 grid items-center gap-x-2.5 border-b border-line/55 pr-[18px] pl-4 hover:bg-hover',
        here &&
          'bg-accent-soft hover:bg-accent-soft before:absolute before:inset-y-0 before:left-0 before:w-0.5 before:bg-accent',
        isMarked && !here && 'bg-accent-soft/60',
        isNew?.(row) === true && 'animate-arrive',
      )}
    >
      {marks !== undefined && (
        <MarkCell isMarked={isMarked} mark={(isRange) => (isRange ? marks.extend : marks.toggle)(idOf(row))} />
      )}
      {columns.map((column) => (
        <span role="gridcell" key={column.id} className={clsx('min-w-0', column.align === 'right' && 'text-right')}>
          {column.cell(row)}
        </span>
      ))}
    </div>
  )
}

/** There when the row is marked or pointed at; with Shift everything since the last mark. Keys mark the row that one is at. */
function MarkCell({
  isMarked,
  mark,
}: {
  readonly isMarked: boolean
  readonly mark: (isRange: boolean) => void
}): ReactElement {
  return (
    <span role="gridcell" className="-ml-2 grid size-6 place-items-center">
      <input
        type="checkbox"
        tabIndex={-1}
        aria-label="Mark"
        title="Mark (x)"
        checked={isMarked}
        onChange={() => undefined}
        onClick={(event) => {
          event.stopPropagation()
          mark(event.shiftKey)
        }}
        className="size-3.5 accent-(--accent) opacity-0 group-hover:opacity-100 checked:opacity-100 focus-visible:opacity-100"
      />
    </span>
  )
}

/** Moves the list when one goes to another row, and never when rows come. */
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
    <span className="flex min-w-0 flex-col">
      <b className="truncate leading-4 font-strong">{top}</b>
      <span className="truncate text-label leading-[14px] text-ink-3">{below}</span>
    </span>
  )
}
