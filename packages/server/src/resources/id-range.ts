import { uuidv7Floor } from '../platform/ids.ts'

/** A range of UUIDv7s, from the first one inside to the first one outside; null: no bound. */
export type IdRange = { readonly fromId: string | null; readonly toId: string | null }

/** Turns a time range into a range of ids, so that a statement reads only the days of the range. */
export function idRange({ from, to }: { readonly from?: Date | undefined; readonly to?: Date | undefined }): IdRange {
  return {
    fromId: from === undefined ? null : uuidv7Floor(from.getTime()),
    toId: to === undefined ? null : uuidv7Floor(to.getTime()),
  }
}
