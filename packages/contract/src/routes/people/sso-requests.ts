import { z } from 'zod'
import { idInput, idOutput } from '../../ids.ts'
import { LIMITS } from '../../limits.ts'
import { ListQuery, listOf, Text, Timestamp } from '../../list.ts'
import { defineRoute, MANAGE } from '../../route.ts'

const { ssoDomainsMax, ssoNoteCharsMax } = LIMITS

export const SSO_REQUEST_STATUSES = ['pending', 'approved', 'declined', 'cancelled', 'superseded'] as const
const SSO_REQUEST_KINDS = ['sso', 'organization', 'google_workspace'] as const

export const SsoRequest = z.object({
  id: idOutput('ssoRequest'),
  kinds: z
    .array(z.enum(SSO_REQUEST_KINDS))
    .describe(
      'The requested features. `sso`: single sign-on. `organization`: one organization for the workspaces of a company. `google_workspace`: sign-in with the accounts of a Google Workspace.',
    ),
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

const asked = {
  domains: z
    .array(Domain)
    .min(1, 'Name at least one email domain.')
    .max(ssoDomainsMax, `A request has at most ${ssoDomainsMax} domains.`),
  note: Text.trim().max(ssoNoteCharsMax).nullable().default(null).describe('For the operator: plain text.'),
}

const SUPERSEDES =
  'A pending request of the same kind becomes `superseded`, and the new one names it. Postroad mails the decision to the owners. GET sso/requests lists it, and DELETE sso/requests/{id} cancels it.'

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
    description: `Asks the operators to set up single sign-on for these email domains. ${SUPERSEDES}`,
    ...OWNERS,
    afterClaim: true,
    status: 201,
    body: z.strictObject({
      kinds: z.array(z.literal('sso')).min(1).max(1).default(['sso']),
      ...asked,
    }),
    output: z.object({ request: SsoRequest }),
  }),
  requestOrganization: defineRoute({
    method: 'POST',
    area: 'workspace',
    path: 'organization/requests',
    summary: 'Request an organization',
    description: `Asks the operators to treat the workspaces of these email domains as one organization, for example for one plan or one invoice. ${SUPERSEDES}`,
    ...OWNERS,
    afterClaim: true,
    status: 201,
    body: z.strictObject(asked),
    output: z.object({ request: SsoRequest }),
  }),
  linkGoogleWorkspace: defineRoute({
    method: 'POST',
    area: 'workspace',
    path: 'google-workspace/link',
    summary: 'Request a link to a Google Workspace',
    description: `Asks the operators to let people sign in with the accounts of the Google Workspace of these email domains. ${SUPERSEDES}`,
    ...OWNERS,
    afterClaim: true,
    status: 201,
    body: z.strictObject(asked),
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
