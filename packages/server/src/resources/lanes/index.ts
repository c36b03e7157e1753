/** Lanes have no verbs: they belong to the delivery store. */
export { presentBreaker, type LaneStandRow } from './present-breaker.ts'
export { keepOrphans } from './orphans/queries.ts'
export { closeBreaker, keepOrder, notedWait, notesTable, type HeldAt, type LaneAt, type NoteRow } from './queries.ts'
