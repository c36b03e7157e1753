/** Lanes have no verbs: they belong to the delivery store. */
export type { HeldAt, LaneAt } from './queries.ts'
