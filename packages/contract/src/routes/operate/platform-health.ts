import { z } from 'zod'
import { idInput, idOutput } from '../../ids.ts'
import { LIMITS } from '../../limits.ts'
import { Timestamp } from '../../list.ts'
import { defineRoute, OPERATE, OPERATORS_READ } from '../../route.ts'
import { MAIL_MODES } from '../../sign-in.ts'

const counted = `Counted up to ${LIMITS.healthCountMax.toLocaleString('en')}.`

const PlatformHealth = z.object({
  checked_at: Timestamp,
  ok: z.boolean().describe('false: `problems` says why.'),
  problems: z.array(z.string()).describe('Each is one sentence: what is wrong, and what to do.'),
  database: z.object({ answered_in_ms: z.int().describe('The response time of one query, in milliseconds.') }),
  senders: z.int().describe('Live processes that send deliveries.'),
  loops: z
    .array(
      z.object({
        name: z.string(),
        last_run_at: Timestamp.nullable().describe(
          'The time of the last successful run in this process. null: none yet.',
        ),
        last_failed_at: Timestamp.nullable(),
        failing: z.boolean().describe('true: the last run failed.'),
        failed_rows: z
          .int()
          .describe('The rows that failed in the last run, which handled the others. The log names each.'),
      }),
    )
    .describe('The background loops of the process that responds.'),
  upkeep: z
    .array(
      z.object({
        name: z.string(),
        last_run_at: Timestamp,
        duration_ms: z.int().describe('How long the last run took.'),
        changed: z.int().describe('The rows or tables that the last successful run created, deleted or counted.'),
        last_succeeded_at: Timestamp.nullable(),
        failures: z.int().describe('Failed runs in a row. 0: the last run succeeded.'),
        last_failed_at: Timestamp.nullable(),
        last_error: z.string().nullable().describe('The error of the last failed run.'),
      }),
    )
    .describe(
      'The tasks that create tables and delete old rows. One process of the installation runs them every hour.',
    ),
  deliveries: z.object({
    overdue: z
      .int()
      .describe(`Deliveries that nothing holds back and that have been due for more than 2 minutes. ${counted}`),
    oldest_due_at: Timestamp.nullable().describe('The time since which the oldest of them has been due.'),
  }),
  lanes: z.object({
    owned: z.int().describe(`Destinations that a living process sends for. ${counted}`),
    waiting: z.int().describe(`Destinations whose breaker or rate makes them wait. ${counted}`),
  }),
  agent_registrations: z
    .object({
      open: z.boolean().describe('Whether agents can register their own accounts now.'),
      today: z.int().describe('Agents that have registered since midnight UTC.'),
      cap: z.int().describe('The maximum number of registrations per day.'),
      share: z.number().describe('The used part of the cap, from 0 to 1. A challenge gets harder as it grows.'),
    })
    .describe('Settings of `platform/settings` change the cap and the switch.'),
  mails: z.object({
    mode: z
      .enum(MAIL_MODES)
      .describe('`outbox`: no mail server is set, so emails stay on the server until an operator hands them over.'),
    waiting: z.int().describe(`Emails that are not sent yet. ${counted}`),
    outbox: z
      .array(
        z.object({
          id: idOutput('mail'),
          to: z.string(),
          subject: z.string(),
          created_at: Timestamp,
          expires_at: Timestamp.describe('The email is not useful after this.'),
        }),
      )
      .describe(`The emails that nobody got, newest first, at most ${LIMITS.outboxShown}. Empty with a mail server.`),
  }),
})

export const platformHealth = {
  get: defineRoute({
    method: 'GET',
    area: 'workspace',
    path: 'platform/health',
    summary: 'Get the health of the installation',
    description:
      'The health of the server: its database, background loops, senders and stuck work. `postroad doctor` runs more checks and takes longer.',
    ...OPERATORS_READ,
    status: 200,
    output: z.object({ health: PlatformHealth }),
  }),
  readMail: defineRoute({
    method: 'POST',
    area: 'workspace',
    path: 'platform/mails/{id}/read',
    summary: 'Read an email of the outbox',
    description:
      'The text of an email that the server could not send, because it has no mail server, so that you can hand it over. It can contain a link that signs its recipient in, so the audit log shows who read it. 404 with a mail server, and after the email expired.',
    ...OPERATE,
    callers: 'people',
    status: 200,
    params: z.object({ id: idInput('mail') }),
    output: z.object({
      mail: z.object({
        id: idOutput('mail'),
        to: z.string(),
        subject: z.string(),
        text: z.string(),
        link: z.string().nullable().describe('The link in the text; null: it has none.'),
      }),
    }),
  }),
} as const
