import type { About } from '../../about.ts'
import { type replays, Replay, Filter, ReplayPlan } from './replays.ts'
import { exampleId } from '../../openapi/example-id.ts'

export const about = {
  text: 'Replays of many deliveries, with their plan and progress.',
  refusals: {
    create: ['replay_limit_reached', 'delivery_allowance_exhausted', 'search_timed_out'],
    pause: ['invalid_state'],
    resume: ['invalid_state', 'delivery_allowance_exhausted'],
    cancel: ['invalid_state'],
  },
  schemas: { Replay, ReplayFilter: Filter, ReplayPlan },
  bodies: {
    create: {
      filter: { state: ['failed'], destination_id: exampleId('destination'), from: '2026-11-20T00:00:00Z' },
      rate_per_second: 20,
      dry_run: true,
    },
  },
  members: {
    Replay: {
      kind: 'replay',
      state: 'running',
      filter: { state: ['failed'] },
      rate_per_second: 20,
      total: 128,
      replayed: 40,
    },
    ReplayPlan: { count: 128, complete: true, bytes: 52_480, minutes: 0.1 },
  },
} satisfies About<typeof replays>
