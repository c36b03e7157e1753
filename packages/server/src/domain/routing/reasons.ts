import { LIMITS } from '@postroad/contract/plain'

type InDataset = { readonly dataset: string }
type Considering = {
  /** The number of rules that see the event. */
  readonly rules: number
  readonly records: readonly InDataset[]
  /** The number of destinations that consider each record. */
  readonly destinations: number
  /** Workflows and AI triggers, which consider the records of their dataset. */
  readonly starters: readonly (readonly InDataset[])[]
}

/**
 * Whether a decision would have too many reasons: one for each rule, and for each record one for each destination and starter.
 * Few rules and few destinations together can make millions of them from an event of two bytes.
 */
export function hasTooManyReasons({ rules, records, destinations, starters }: Considering): boolean {
  const all = starters.reduce((sum, { length }) => sum + length, destinations)
  if (rules + records.length * all <= LIMITS.reasonsOfEventMax) return false
  const listening = new Map<string, number>()
  for (const { dataset } of starters.flat()) listening.set(dataset, (listening.get(dataset) ?? 0) + 1)
  const reasons = records.reduce((sum, { dataset }) => sum + destinations + (listening.get(dataset) ?? 0), rules)
  return reasons > LIMITS.reasonsOfEventMax
}
