import { z } from 'zod'
import { Decision } from '../../decision.ts'
import { EventOrigin } from '../../event-origin.ts'
import { ProvenState } from '../../verification-state.ts'
import { idInput, idOutput } from '../../ids.ts'
import { ListQuery, listOf, TimeRange, Timestamp } from '../../list.ts'
import { defineRoute, READ } from '../../route.ts'

export const Submission = z.object({
  id: idOutput('submission'),
  webhook_id: idOutput('webhook').nullable(),
  ingest_key_id: idOutput('ingestKey').nullable(),
  origin: EventOrigin,
  verification: ProvenState,
  received_at: Timestamp,
  source_ip: z.string().nullable(),
  content_type: z.string().nullable(),
  body_bytes: z.int(),
  record_ids: z.array(idOutput('record')),
})

export const SubmissionDetail = Submission.extend({
  method: z.string().nullable().describe('The method of the request; null: the event has no sender.'),
  query: z
    .string()
    .nullable()
    .describe('The query string as received, without its question mark, with credentials masked. null: it had none.'),
  headers: z.record(z.string(), z.string()).describe('As received, with credentials masked.'),
  body: z.string().nullable().describe('The body as received, if it is text.'),
  body_base64: z.string().nullable().describe('The body as received, in base64, if it is not text.'),
  decision: Decision,
  duplicates: z.int().describe('The number of repeats that were answered with this submission.'),
  key_reused: z.boolean().describe('An earlier submission had the same key of the endpoint, and another body.'),
})

export const submissions = {
  list: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'submissions',
    summary: 'List submissions',
    description: 'The accepted requests of the project, newest first, of one endpoint or of all.',
    ...READ,
    status: 200,
    query: ListQuery.extend({
      webhook_id: idInput('webhook').optional().describe('Only submissions of this endpoint.'),
      ...TimeRange,
    }),
    output: listOf('submissions', Submission),
  }),
  get: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'submissions/{id}',
    summary: 'Get a submission',
    description:
      'One accepted request with its query string, its headers, its body as received, and the reasons for its routing.',
    ...READ,
    status: 200,
    params: z.object({ id: idInput('submission') }),
    output: z.object({
      submission: SubmissionDetail,
    }),
  }),
} as const
