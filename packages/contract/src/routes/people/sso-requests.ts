import { z } from 'zod'
import { idInput, idOutput } from '../../ids.ts'
import { LIMITS } from '../../limits.ts'
import { ListQuery, listOf, Text, Timestamp } from '../../list.ts'
import { defineRoute, MANAGE } from '../../route.ts'

const { ssoDomainsMax, ssoNoteCharsMax } = LIMITS

export const SSO_REQUEST_STATUSES = ['pending', 'approved', 'declined', 'cancelled', 'superseded'] as const
const SSO_KINDS = ['sso'] as const

export const SsoRequest = z.object({
  id: idOutput('ssoRequest'),
  kinds: z.array(z.enum(SSO_KINDS)).describe('The features that are requested.'),
  domains: z.array(z.string()).describe('The email domains of the people who will sign in.'),
  note: z.string().nullable(),
  status: z
    .enum(SSO_REQUEST_STATUSES)
    .describe(
      '`pending`: an operator has not decided yet. `approved`, `declined`: an operator decided. `cancelled`: an owner canceled it. `superseded`: an owner replaced it with a newer request.',
    ),
  requested_at: Timestamp,
  decided_at: Timestamp.nullable().describe('When an operator approved or declined it.'),
  reason: z.string().nullable().describe('The reason that the operator gave.'),
  supersedes: idOutput('ssoRequest').nullable().describe('The pending request that this one replaced.'),
})

/** A name of at least two labels, as in the part of an address after the @. */
const Domain = z
  .string()
  .trim()
  .max(253, 'A domain has at most 253 characters.')
  .regex(
    /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)+$/,
    'A domain is a name such as example.com, without @ and without a path.',
  )
  .overwrite((domain) => domain.toLowerCase())

const OWNERS = { ...MANAGE, role: 'owner' } as const

export const ssoRequests = {
  list: defineRoute({
    method: 'GET',
    area: 'workspace',
    path: 'sso/requests',
    summary: 'List SSO requests',
    description: 'The requests of the workspace with their status, newest first.',
    ...MANAGE,
    whileSuspended: 'read',
    status: 200,
    query: ListQuery,
    output: listOf('requests', SsoRequest),
  }),
  create: defineRoute({
    method: 'POST',
    area: 'workspace',
    path: 'sso/requests',
    summary: 'Request SSO',
    description:
      'Asks the operators to set up single sign-on for these email domains. A request that is still pending becomes `superseded`, and the new one names it. Postroad mails the decision to the owners.',
    ...OWNERS,
    afterClaim: true,
    status: 201,
    body: z.strictObject({
      kinds: z.array(z.enum(SSO_KINDS)).min(1).max(1).default(['sso']),
      domains: z
        .array(Domain)
        .min(1, 'Name at least one email domain.')
        .max(ssoDomainsMax, `A request has at most ${ssoDomainsMax} domains.`),
      note: Text.trim().max(ssoNoteCharsMax).nullable().default(null).describe('For the operator: plain text.'),
    }),
    output: z.object({ request: SsoRequest }),
  }),
  cancel: defineRoute({
    method: 'DELETE',
    area: 'workspace',
    path: 'sso/requests/{id}',
    summary: 'Cancel an SSO request',
    description:
      'Cancels a request that is pending, also while the workspace is suspended. A request that was decided is refused with 409 `invalid_state`.',
    ...OWNERS,
    whileSuspended: 'allowed',
    afterClaim: true,
    status: 200,
    params: z.object({ id: idInput('ssoRequest') }),
    output: z.object({ ok: z.literal(true), request: SsoRequest }),
  }),
} as const
