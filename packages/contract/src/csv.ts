/** A cell that a spreadsheet would run: its first visible character begins a formula, or a control character hides it. */
const FORMULA = /^(?:\s*[=+\-@＝＋－＠]|[\t\r\n])/

/**
 * One line of a CSV file (RFC 4180), with its line end. Every text is quoted, so that no separator of any country's
 * spreadsheet splits it, and has an apostrophe before what would be a formula. null is an empty cell.
 */
export function csvLine(cells: readonly (string | null)[]): string {
  return `${cells.map((cell) => (cell === null ? '' : `"${guarded(cell).replaceAll('"', '""')}"`)).join(',')}\r\n`
}

function guarded(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text
}
