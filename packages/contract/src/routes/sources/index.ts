import { cronTriggers } from './cron-triggers.ts'

/** Events that no sender sends: the clock, databases, feeds and WebSockets. */
export const sources = { cronTriggers } as const
