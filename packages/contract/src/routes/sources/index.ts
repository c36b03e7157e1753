import { cronTriggers } from './cron-triggers.ts'
import { wsTriggers } from './ws-triggers.ts'
import { sources as sourceRoutes } from './sources.ts'

/** Events that no sender sends: the clock, databases, feeds and WebSockets. */
export const sources = { cronTriggers, sources: sourceRoutes, wsTriggers } as const
