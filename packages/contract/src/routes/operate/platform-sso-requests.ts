import { z } from 'zod'
import { idInput, idOutput } from '../../ids.ts'
import { LIMITS } from '../../limits.ts'
import { ListQuery, listOf, Text } from '../../list.ts'
import { defineRoute, OPERATE, OPERATORS_READ } from '../../route.ts'
import { SSO_REQUEST_STATUSES, SsoRequest } from '../people/sso-requests.ts'

/** A request with the workspace that made it. */
export const PlatformSsoRequest = SsoRequest.extend({
  workspace: z.object({ id: idOutput('workspace'), slug: z.string(), name: z.string() }),
  requested_by: idOutput('user'),
})

const at = z.object({ id: idInput('ssoRequest') })
const one = z.object({ request: PlatformSsoRequest })

export const platformSsoRequests = {
  list: defineRoute({
    method: 'GET',
    area: 'workspace',
    path: 'platform/sso-requests',
    summary: 'List the SSO requests of all workspaces',
    description: 'Newest first.',
    ...OPERATORS_READ,
    status: 200,
    query: ListQuery.extend({ status: z.enum(SSO_REQUEST_STATUSES).optional().describe('Only those in this status.') }),
    output: listOf('requests', PlatformSsoRequest),
  }),
  get: defineRoute({
    method: 'GET',
    area: 'workspace',
    path: 'platform/sso-requests/{id}',
    summary: 'Get an SSO request',
    description: 'One request of any workspace.',
    ...OPERATORS_READ,
    status: 200,
    params: at,
    output: one,
  }),
  decide: defineRoute({
    method: 'PATCH',
    area: 'workspace',
    path: 'platform/sso-requests/{id}',
    summary: 'Decide an SSO request',
    description:
      'Approves or declines a pending request. The owners of the workspace get the decision and the reason by email. A request that is not pending is refused with 409 `invalid_state`.',
    ...OPERATE,
    status: 200,
    params: at,
    body: z.strictObject({
      status: z.enum(['approved', 'declined']),
      reason: Text.trim()
        .min(1)
        .max(LIMITS.ssoReasonCharsMax)
        .describe('The reason and the next steps, for the workspace owners.'),
    }),
    output: one,
  }),
} as const
