import { cronTriggers } from './cron-triggers.ts'
import { wsTriggers } from './ws-triggers.ts'
import { sources as sourceRoutes } from './sources.ts'

/** Sources of events without a sender: the clock, databases, feeds and WebSockets. */
export const sources = { cronTriggers, sources: sourceRoutes, wsTriggers } as const
