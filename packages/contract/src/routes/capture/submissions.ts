import { z } from 'zod'
import { Decision } from '../../decision.ts'
import { idInput, idOutput } from '../../ids.ts'
import { ListQuery, listOf, TimeRange, Timestamp } from '../../list.ts'
import { defineRoute, READ } from '../../route.ts'

export const Submission = z.object({
  id: idOutput('submission'),
  webhook_id: idOutput('webhook').nullable(),
  ingest_key_id: idOutput('ingestKey').nullable(),
  received_at: Timestamp,
  source_ip: z.string().nullable(),
  content_type: z.string().nullable(),
  body_bytes: z.int(),
  record_ids: z.array(idOutput('record')),
})

export const SubmissionDetail = Submission.extend({
  headers: z.record(z.string(), z.string()).describe('As received; credentials are masked.'),
  body: z.string().nullable().describe('As received, when it is text.'),
  body_base64: z.string().nullable().describe('As received, when it is not.'),
  decision: Decision,
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
      webhook_id: idInput('webhook').optional().describe('Only those of this endpoint.'),
      ...TimeRange,
    }),
    output: listOf('submissions', Submission),
  }),
  get: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'submissions/{id}',
    summary: 'Get a submission',
    description: 'One accepted request with its headers, its body as received, and why it was routed as it was.',
    ...READ,
    status: 200,
    params: z.object({ id: idInput('submission') }),
    output: z.object({
      submission: SubmissionDetail,
    }),
  }),
} as const
