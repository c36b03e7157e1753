import { io } from '../io.ts'
import { cut, plain, widthOf } from './plain.ts'
import { style } from './style.ts'

export type Column = {
  readonly head: string
  readonly cells: readonly string[]
  /** The table can cut the column to this width. */
  readonly least?: number
  /** The table can leave out the column, the last one first, if it would be wider than the terminal. */
  readonly spare?: true
  readonly align?: 'right'
  readonly paint?: (cell: string, row: number) => string
}

const GAP = '  '
const SCREEN = 80

/** The width of the terminal. In output to a program nothing is cut, and no column is left out. */
function screenWidth(): number {
  const { columns = 0, isTTY } = io().stdout
  if (columns > 0) return columns
  return isTTY === true ? SCREEN : Infinity
}

/** Rows under dim heads, without lines, no wider than the terminal. Makes the cells safe to print. */
export function table(columns: readonly Column[], width: number = screenWidth()): string {
  const safe = columns.map((column) => ({ ...column, cells: column.cells.map(plain) }))
  const shown = fitted(
    safe.filter(({ cells }) => cells.some((cell) => cell !== '')),
    width,
  )
  const widths = widthsOf(shown, width)
  const line = (textOf: (column: Column, at: number) => string): string =>
    shown
      .map((column, at) => textOf(column, at))
      .join(GAP)
      .trimEnd()
  const head = line((column, at) => style.dim(pad(column, { text: column.head, width: widths[at] ?? 0 })))
  const rows = (columns[0]?.cells ?? []).map((_cell, row) =>
    line((column, at) =>
      (column.paint ?? style.none)(pad(column, { text: column.cells[row] ?? '', width: widths[at] ?? 0 }), row),
    ),
  )
  return [head, ...rows].join('\n')
}

/** Labels in one column and values in the next. A value of several lines stays in its column. */
export function fields(rows: readonly (readonly [label: string, value: string])[]): string {
  const width = Math.max(...rows.map(([label]) => label.length)) + GAP.length
  return rows
    .map(([label, value]) => style.dim(label.padEnd(width)) + value.split('\n').join(`\n${' '.repeat(width)}`))
    .join('\n')
}

function fitted(columns: readonly Column[], width: number): readonly Column[] {
  const needed = columns.reduce(
    (sum, column) => sum + Math.min(natural(column), column.least ?? Infinity) + GAP.length,
    -GAP.length,
  )
  const spare = columns.findLastIndex((column) => column.spare === true)
  return needed <= width || spare < 0 ? columns : fitted(columns.toSpliced(spare, 1), width)
}

/** Gives the space that fixed columns leave to the columns that can be cut, starting with the first one. */
function widthsOf(columns: readonly Column[], width: number): readonly number[] {
  const least = columns.map((column) => Math.min(natural(column), column.least ?? Infinity))
  let left = width - least.reduce((sum, one) => sum + one + GAP.length, -GAP.length)
  return columns.map((column, at) => {
    const own = least[at] ?? 0
    const more = Math.max(0, Math.min(natural(column) - own, left))
    left -= more
    return own + more
  })
}

function natural({ head, cells }: Column): number {
  return Math.max(head.length, ...cells.map(widthOf))
}

function pad({ align }: Column, { text, width }: { text: string; width: number }): string {
  const shown = cut(text, width)
  const space = ' '.repeat(Math.max(0, width - widthOf(shown)))
  return align === 'right' ? space + shown : shown + space
}
