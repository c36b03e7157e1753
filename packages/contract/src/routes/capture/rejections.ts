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
      'The requests that were rejected after their endpoint or ingest key was known, newest minute first: one row for each credential, reason and UTC minute, ' +
      'with repeats counted in `count`, and without a body. Rows appear within two seconds and are retained as long as the plan retains events. `from` and `to` have a precision of one minute.',
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
