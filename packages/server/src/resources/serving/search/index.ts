import type { Room } from '../../verbs.ts'
import { deliveries, events } from './by-payload.ts'
import { correlate } from './correlate.ts'

export const search: Room<'search'> = { deliveries, events, correlate }
