import { idInput } from '../../ids.ts'
import { ListQuery, listOf, TimeRange } from '../../list.ts'
import { Rejection, RejectionReason } from '../../rejection.ts'
import { defineRoute, READ } from '../../route.ts'

export const rejections = {
  list: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'rejections',
    summary: 'List rejected requests',
    description:
      'The requests that Postroad rejected after it had identified their endpoint or ingest key, newest minute first. Each row is for one credential, reason and UTC minute. ' +
      '`count` is the number of requests. Rows contain no body. Rows appear within two seconds and are retained as long as the plan retains events. `from` and `to` have a precision of one minute.',
    ...READ,
    status: 200,
    query: ListQuery.extend({
      webhook_id: idInput('webhook').optional().describe('Only rows of this endpoint.'),
      ingest_key_id: idInput('ingestKey').optional().describe('Only rows with this ingest key.'),
      reason: RejectionReason.optional().describe('Only rows with this reason.'),
      ...TimeRange,
    }),
    output: listOf('rejections', Rejection),
  }),
} as const
