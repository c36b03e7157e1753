import type { Room } from '../verbs.ts'
import { correlate } from './correlate.ts'

export const search: Room<'search'> = { correlate }
