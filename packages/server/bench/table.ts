/** One figure beside its comparison in the same run. */
export type Figure = {
  readonly what: string
  readonly unit: string
  readonly ours: number
  readonly beside: { readonly name: string; readonly value: number } | undefined
  /** The target for our value, or for our value divided by the comparison. */
  readonly aim?: { readonly most: number } | { readonly leastRatio: number } | { readonly mostRatio: number }
}

/** The figures as a Markdown table. */
export function tableOf(figures: readonly Figure[]): string {
  const rows = figures.map((figure) => [
    figure.what,
    shown(figure.ours, figure.unit),
    besideOf(figure),
    ratioOf(figure),
    aimOf(figure),
  ])
  return aligned(['Figure', 'Postroad', 'Beside it, in the same run', 'Ratio', 'Aim'], rows)
}

/** A table of a row with columns that figures do not have. */
export type Table = {
  readonly title: string
  readonly head: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

export const textOf = ({ title, head, rows }: Table): string => `## ${title}\n\n${aligned(head, rows)}`

function aligned(headings: readonly string[], rows: Table['rows']): string {
  const all = [headings, ...rows]
  const widths = all[0]?.map((_cell, column) => Math.max(...all.map((row) => row[column]?.length ?? 0))) ?? []
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`
  const [head = [], ...body] = all
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...body.map(line)].join('\n')
}

function besideOf({ beside, unit }: Figure): string {
  return beside === undefined ? '' : `${beside.name}: ${shown(beside.value, unit)}`
}

function ratioOf({ ours, beside }: Figure): string {
  return beside === undefined ? '' : (ours / beside.value).toFixed(2)
}

function aimOf({ ours, beside, unit, aim }: Figure): string {
  if (aim === undefined) return ''
  if ('most' in aim) return said(ours <= aim.most, `≤ ${shown(aim.most, unit)}`)
  const ratio = ours / (beside?.value ?? NaN)
  if ('mostRatio' in aim) return said(ratio <= aim.mostRatio, `ratio ≤ ${aim.mostRatio}`)
  return said(ratio >= aim.leastRatio, `ratio ≥ ${aim.leastRatio}`)
}

function said(met: boolean, text: string): string {
  return `${text}: ${met ? 'met' : 'missed'}`
}

export function shown(value: number, unit: string): string {
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2
  const text = value >= 100 ? Math.round(value).toLocaleString('en-US') : value.toFixed(digits)
  return unit.startsWith('/') ? `${text}${unit}` : `${text} ${unit}`
}
