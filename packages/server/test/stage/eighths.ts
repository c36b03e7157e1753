/**
 * A walk visits many things in the same way: routes, screens, states. One run can take an eighth of each walk:
 * POSTROAD_TEST_EIGHTH is a number from 0 to 7. Without it a run takes everything.
 */
const EIGHTHS = 8
const CHOSEN = eighthIn(process.env['POSTROAD_TEST_EIGHTH'])

function eighthIn(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined
  if (/^[0-7]$/.test(text)) return Number(text)
  throw new Error(`POSTROAD_TEST_EIGHTH is ${text}; it must be a number from 0 to 7.`)
}

/** Whether this run takes every walk as a whole. Only then can a walk promise that it has seen everything. */
export const isWhole = CHOSEN === undefined

/** The items that this run visits. Neighbors are in different eighths, so that each eighth has some of every kind. */
export function inEighth<T>(items: readonly T[], eighth = CHOSEN): readonly T[] {
  return eighth === undefined ? items : items.filter((_item, index) => index % EIGHTHS === eighth)
}
