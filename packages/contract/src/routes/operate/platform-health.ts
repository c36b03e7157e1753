import { z } from 'zod'
import { LIMITS } from '../../limits.ts'
import { Timestamp } from '../../list.ts'
import { defineRoute, OPERATORS_READ } from '../../route.ts'

const counted = `Counted up to ${LIMITS.healthCountMax.toLocaleString('en')}.`

const PlatformHealth = z.object({
  checked_at: Timestamp,
  ok: z.boolean().describe('false: `problems` says why.'),
  problems: z.array(z.string()).describe('Each is one sentence: what is wrong, and what to do.'),
  database: z.object({ answered_in_ms: z.int().describe('How long it took to answer one question.') }),
  senders: z.int().describe('Processes that deliver and are alive.'),
  loops: z
    .array(
      z.object({
        name: z.string(),
        last_run_at: Timestamp.nullable().describe('When a run last ended well in this process. null: not yet.'),
        last_failed_at: Timestamp.nullable(),
        failing: z.boolean().describe('true: the last run failed.'),
      }),
    )
    .describe('The background loops of the process that answers.'),
  deliveries: z.object({
    overdue: z
      .int()
      .describe(`Deliveries that nothing holds back and that have been due for more than 2 minutes. ${counted}`),
    oldest_due_at: Timestamp.nullable().describe('Since when the oldest of them has been due.'),
  }),
  lanes: z.object({
    owned: z.int().describe(`Destinations that a living process sends for. ${counted}`),
    waiting: z.int().describe(`Destinations whose breaker or rate makes them wait. ${counted}`),
  }),
  mails: z.object({ waiting: z.int().describe(`Mails that are not sent yet. ${counted}`) }),
})

export const platformHealth = {
  get: defineRoute({
    method: 'GET',
    area: 'workspace',
    path: 'platform/health',
    summary: 'Get the health of the installation',
    description:
      'What the server knows about itself: its database, background loops, senders and work that does not move. `postroad doctor` checks more, and takes longer.',
    ...OPERATORS_READ,
    status: 200,
    output: z.object({ health: PlatformHealth }),
  }),
} as const
