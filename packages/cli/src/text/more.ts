import { style } from './style.ts'

/** The last line of a page that is not the last one. */
export function more(cursor: string | null): readonly string[] {
  return cursor === null ? [] : [style.dim(`There are more: add --cursor ${cursor}`)]
}
