import { search } from './search.ts'

/** Reads of stored events. */
export const serving = { search } as const
