import type { About } from '../../about.ts'
import { type search, Story, Moment } from './search.ts'
import { exampleId } from '../../openapi/example-id.ts'

export const about = {
  text: 'Search events and deliveries, and find everything that belongs to one id.',
  refusals: { wait: ['stream_limit_reached'], events: ['search_timed_out'], deliveries: ['search_timed_out'] },
  schemas: { Story, StoryMoment: Moment },
  members: {
    Story: { id: exampleId('submission'), truncated: false, rejection: null },
    StoryMoment: { kind: 'submission', id: exampleId('submission'), state: 'accepted' },
  },
} satisfies About<typeof search>
