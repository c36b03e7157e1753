import { cronTriggers } from './cron-triggers.ts'
import { about as aboutCronTriggers } from './cron-triggers.about.ts'
import { wsTriggers } from './ws-triggers.ts'
import { about as aboutWsTriggers } from './ws-triggers.about.ts'
import { sources as sourceRoutes } from './sources.ts'
import { about as aboutSources } from './sources.about.ts'
import type { AboutRooms } from '../../about.ts'

/** Sources of events without a sender: the clock, databases, feeds and WebSockets. */
export const sources = { cronTriggers, sources: sourceRoutes, wsTriggers } as const

export const sourcesAbout = {
  cronTriggers: aboutCronTriggers,
  sources: aboutSources,
  wsTriggers: aboutWsTriggers,
} satisfies AboutRooms<typeof sources>
