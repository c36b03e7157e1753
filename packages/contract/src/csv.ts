/** A cell that a spreadsheet would run: its first visible character starts a formula, or a control character hides that character. */
const FORMULA = /^(?:\s*[=+\-@＝＋－＠]|[\t\r\n])/

/**
 * One line of a CSV file (RFC 4180) with its line end. Every text is quoted, because separators differ between countries, and a text
 * that would be a formula gets an apostrophe in front. null is an empty cell.
 */
export function csvLine(cells: readonly (string | null)[]): string {
  return csvJoined(cells.map((cell) => (cell === null ? '' : csvCell(cell))))
}

/** One text as a cell, quoted and guarded. */
export function csvCell(text: string): string {
  return `"${guarded(text).replaceAll('"', '""')}"`
}

/** A line of finished cells, with its line end. */
export const csvJoined = (cells: readonly string[]): string => `${cells.join(',')}\r\n`

function guarded(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text
}
