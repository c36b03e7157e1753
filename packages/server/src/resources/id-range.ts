import { uuidv7Floor } from '../platform/ids.ts'

/** A range of UUIDv7s: from the first inside to the first outside; null: no bound. */
export type IdRange = { readonly fromId: string | null; readonly toId: string | null }

/** The bounds of a list in time as bounds of its ids, so that a range touches only the days it is about. */
export function idRange({ from, to }: { readonly from?: Date | undefined; readonly to?: Date | undefined }): IdRange {
  return {
    fromId: from === undefined ? null : uuidv7Floor(from.getTime()),
    toId: to === undefined ? null : uuidv7Floor(to.getTime()),
  }
}
