import { search } from './search.ts'

/** What reads what is stored. */
export const serving = { search } as const
