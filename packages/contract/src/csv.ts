/** A cell that a spreadsheet would run: its first visible character starts a formula, or a control character hides that character. */
const FORMULA = /^(?:\s*[=+\-@＝＋－＠]|[\t\r\n])/

/**
 * One line of a CSV file (RFC 4180) with its line end. Every text is quoted, because separators differ between countries, and a text
 * that would be a formula gets an apostrophe in front. null is an empty cell.
 */
export function csvLine(cells: readonly (string | null)[]): string {
  return `${cells.map((cell) => (cell === null ? '' : `"${guarded(cell).replaceAll('"', '""')}"`)).join(',')}\r\n`
}

function guarded(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text
}
