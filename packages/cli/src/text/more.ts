import { style } from './style.ts'

/** The last line of a page when more pages follow. */
export function more(cursor: string | null): readonly string[] {
  return cursor === null ? [] : [style.dim(`There are more: add --cursor ${cursor}`)]
}
