import type { About } from '../../about.ts'
import { type search, Story, Moment } from './search.ts'

export const about = {
  text: 'Search events and deliveries, and find everything that belongs to one id.',
  refusals: { events: ['search_timed_out'], deliveries: ['search_timed_out'] },
  schemas: { Story, StoryMoment: Moment },
} satisfies About<typeof search>
