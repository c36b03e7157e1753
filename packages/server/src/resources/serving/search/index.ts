import type { Room } from '../../verbs.ts'
import { deliveries, events, submissions } from './by-payload.ts'
import { correlate } from './correlate.ts'
import { wait } from './wait.ts'

export const search: Room<'search'> = { deliveries, events, submissions, correlate, wait }
