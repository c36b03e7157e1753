import type { About } from '../../about.ts'
import { type replays, Replay, Filter, ReplayPlan } from './replays.ts'

export const about = {
  text: 'Replays of many deliveries, with their plan and progress.',
  refusals: {
    create: ['replay_limit_reached', 'delivery_allowance_exhausted', 'search_timed_out'],
    pause: ['invalid_state'],
    resume: ['invalid_state', 'delivery_allowance_exhausted'],
    cancel: ['invalid_state'],
  },
  schemas: { Replay, ReplayFilter: Filter, ReplayPlan },
} satisfies About<typeof replays>
