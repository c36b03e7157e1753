import type { RoomsOf } from '../verbs.ts'
import { cronTriggers } from './cron-triggers/index.ts'

/** The rooms of this group that answer routes. A contract route without a verb does not compile. */
export const sources: RoomsOf<'sources'> = { cronTriggers }
