import { z } from 'zod'
import { idInput, idOutput } from '../../ids.ts'
import { LIMITS } from '../../limits.ts'
import { Deleted, ListQuery, listOf, Timestamp } from '../../list.ts'
import { CustomerId, CustomerName } from '../../portal-settings.ts'
import { defineRoute, READ, WRITE } from '../../route.ts'

const { portalTokenSecondsMin, portalTokenSecondsMax, portalTokenSecondsDefault } = LIMITS

export const PortalToken = z.object({
  id: idOutput('portalToken'),
  customer: z.object({ id: idOutput('customer'), customer_id: z.string(), name: z.string().nullable() }),
  shown_prefix: z.string().describe('The first 12 characters of the token.'),
  status: z.enum(['active', 'expired']),
  expires_at: Timestamp,
  last_used_at: Timestamp.nullable().describe('Updated at most once a minute.'),
  created_by: idOutput('user')
    .nullable()
    .describe('The person who created the key, or whose API key or agent created it.'),
  created_at: Timestamp,
})

const of = z.object({ id: idInput('portal') })

export const portalTokens = {
  list: defineRoute({
    method: 'GET',
    area: 'project',
    path: 'portals/{id}/tokens',
    summary: 'List the tokens of a portal',
    description: 'The tokens of the customers of a portal, newest first, without the tokens themselves.',
    ...READ,
    status: 200,
    params: of,
    query: ListQuery.extend({ customer: idInput('customer').optional().describe('Only the tokens of this customer.') }),
    output: listOf('portal_tokens', PortalToken),
  }),
  create: defineRoute({
    method: 'POST',
    area: 'project',
    path: 'portals/{id}/tokens',
    summary: 'Create a token for a customer of a portal',
    description:
      'The response contains the token once, in `token`, and the address with which the customer enters the portal, in `url`. A customer that the portal does not know yet is added. ' +
      'A portal for `one_customer` that has another customer refuses it with 409 `portal_customer_mismatch`, which names that customer.',
    ...WRITE,
    status: 201,
    showsSecret: true,
    params: of,
    body: z.strictObject({
      customer_id: CustomerId,
      customer_name: CustomerName.default(null).describe(
        'The name of a customer that this request adds. A customer that exists retains their name.',
      ),
      expires_in: z
        .int()
        .min(portalTokenSecondsMin)
        .max(portalTokenSecondsMax)
        .default(portalTokenSecondsDefault)
        .describe(`Seconds, ${portalTokenSecondsMin} to ${portalTokenSecondsMax}. Sessions end when their token does.`),
    }),
    output: z.object({
      portal_token: PortalToken,
      token: z.string().describe('The token. It is shown only once.'),
      url: z
        .string()
        .describe('The page of the portal with the token in the fragment, which browsers send to no server.'),
      expires_at: Timestamp,
    }),
  }),
  remove: defineRoute({
    method: 'DELETE',
    area: 'project',
    path: 'portals/{id}/tokens/{token}',
    summary: 'Revoke a token of a portal',
    description: 'Deletes the token. The next request with it, or with a session that it opened, gets 401.',
    ...WRITE,
    status: 200,
    params: of.extend({ token: idInput('portalToken') }),
    output: Deleted,
  }),
} as const
