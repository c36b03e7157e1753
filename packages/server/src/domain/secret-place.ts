/** Where a sealed value lives: its additional data, so that it opens in its own row and column only. */
export function secretPlace(column: `${string}.${string}`, rowId: string): string {
  return `${column}/${rowId}`
}
