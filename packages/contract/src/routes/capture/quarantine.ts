import { z } from 'zod'
import { idInput, idOutput } from '../../ids.ts'
import { LIMITS } from '../../limits.ts'
import { Deleted, Timestamp } from '../../list.ts'
import { defineRoute, READ, WRITE } from '../../route.ts'

export const QuarantineHours = z
  .int('must be a whole number of hours')
  .min(0)
  .max(LIMITS.quarantineHoursMax)
  .describe(
    `The number of hours for which a request is stored, at most ${LIMITS.quarantineHoursMax}; 0: there is no quarantine.`,
  )

const QuarantinedRequest = z.object({
  id: idOutput('quarantinedRequest'),
  received_at: Timestamp,
  expires_at: Timestamp.describe('The time at which it is deleted, if it was not admitted.'),
  reason: z.enum(['missing_header', 'bad_signature']).describe('The reason for which it was refused.'),
  source_ip: z.string().nullable(),
  bytes: z.int().describe('The size of its body.'),
})

/** The quarantine of an endpoint. No response shows the content of a request, because nobody has proven who sent it. */
export const Quarantine = z.object({
  hours: QuarantineHours,
  count: z.int().describe('The number of requests in it.'),
  bytes: z.int().describe('The size of their bodies.'),
  checked_at: Timestamp.nullable().describe(
    'The last time that Postroad verified the requests again; null: never, or within the next seconds.',
  ),
  requests: z.array(QuarantinedRequest).describe(`The newest ${LIMITS.quarantineShown}, newest first.`),
})

const at = z.object({ id: idInput('webhook') })
const one = z.object({ quarantine: Quarantine })

export const quarantine = {
  get: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'webhooks/{id}/quarantine',
    summary: 'Get the quarantine of an endpoint',
    description: 'The requests that the endpoint refused for their signature and that it may still admit.',
    ...READ,
    status: 200,
    params: at,
    output: one,
  }),
  update: defineRoute({
    method: 'PUT',
    area: 'project',
    path: 'webhooks/{id}/quarantine',
    summary: 'Turn the quarantine of an endpoint on or off',
    description:
      `With a quarantine, the endpoint still answers a request with a wrong or missing signature with 401, and stores it sealed: at most ${LIMITS.quarantinePerSecondMax} a second, ${LIMITS.quarantineRequestsMax} requests and ${LIMITS.quarantineBytesMax / 1_048_576} MiB. ` +
      'When the verification of the endpoint changes, Postroad verifies these requests again from their bytes, as of the time at which they came. It admits those that pass, in their order, and they count from then on. 0 deletes the requests.',
    ...WRITE,
    status: 200,
    params: at,
    body: z.strictObject({ hours: QuarantineHours }),
    output: one,
  }),
  verify: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'webhooks/{id}/quarantine/verify',
    summary: 'Verify the requests in quarantine again',
    description: 'Starts within seconds. A change of the verification starts it too.',
    ...WRITE,
    status: 200,
    params: at,
    output: one,
  }),
  discard: defineRoute({
    method: 'DELETE',
    area: 'project',
    path: 'webhooks/{id}/quarantine',
    summary: 'Delete the requests in quarantine',
    description: 'Deletes all quarantined requests. The quarantine stays on.',
    ...WRITE,
    status: 200,
    params: at,
    output: Deleted,
  }),
} as const
