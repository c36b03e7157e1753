import type { RoomsOf } from '../verbs.ts'
import { cronTriggers } from './cron-triggers/index.ts'
import { wsTriggers } from './ws-triggers/index.ts'
import { sources as sourceRoom } from './sources/index.ts'

/** The rooms of this group that answer routes. A contract route without a verb does not compile. */
export const sources: RoomsOf<'sources'> = { cronTriggers, sources: sourceRoom, wsTriggers }
