/** Rows that are read and worked on together have about this size. A single one may be larger. */
export const BATCH_BYTES = 1_048_576

/** The rows in batches of this size, in their order. */
export function batchesOf<Row>(
  rows: readonly Row[],
  bytesOf: (row: Row) => number,
  bytesMax: number = BATCH_BYTES,
): readonly (readonly Row[])[] {
  const batches: Row[][] = []
  let room = 0
  for (const row of rows) {
    room -= bytesOf(row)
    const last = batches.at(-1)
    if (last !== undefined && room >= 0) last.push(row)
    else {
      batches.push([row])
      room = bytesMax - bytesOf(row)
    }
  }
  return batches
}
