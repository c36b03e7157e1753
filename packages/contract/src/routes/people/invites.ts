import { z } from 'zod'
import { idInput, idOutput } from '../../ids.ts'
import { LIMITS } from '../../limits.ts'
import { Deleted, Email, ListQuery, listOf, Timestamp } from '../../list.ts'
import { defineRoute, MANAGE, READ, ROLES } from '../../route.ts'

const DAY_MS = 86_400_000

export const Invite = z.object({
  id: idOutput('invite'),
  email: z.string(),
  role: z.enum(ROLES),
  status: z.enum(['pending', 'expired']),
  invited_by: z.object({ id: idOutput('user'), name: z.string() }),
  created_at: Timestamp,
  expires_at: Timestamp,
})

const sent = z.object({
  invite: Invite,
  link: z
    .string()
    .nullable()
    .describe(
      'Without a mail server: the link, to give to the person. The response shows it once. null: the server emails it.',
    ),
})
const at = z.object({ id: idInput('invite') })

export const invites = {
  list: defineRoute({
    method: 'GET',
    area: 'workspace',
    path: 'invites',
    summary: 'List invites',
    description: 'The invites that are neither accepted nor revoked, newest first.',
    ...READ,
    role: 'admin',
    scope: 'service:manage',
    callers: 'people',
    afterClaim: true,
    status: 200,
    query: ListQuery,
    output: listOf('invites', Invite),
  }),
  create: defineRoute({
    method: 'POST',
    area: 'workspace',
    path: 'invites',
    summary: 'Invite a member',
    description: `Emails a link that works once, within ${LIMITS.inviteMs / DAY_MS} days, for a person who has verified this email address. Without a mail server, \`link\` has it; the link of an operator of the installation also signs in a person without an account. The role cannot be above yours. 403 \`member_limit_reached\` with max_members, members and upgrade_url when the plan allows no more members; pending invites count.`,
    ...MANAGE,
    callers: 'people',
    afterClaim: true,
    status: 201,
    body: z.strictObject({ email: Email, role: z.enum(ROLES) }),
    output: sent,
  }),
  remove: defineRoute({
    method: 'DELETE',
    area: 'workspace',
    path: 'invites/{id}',
    summary: 'Revoke an invite',
    description: 'The link of the invite stops working. This also works in a suspended workspace.',
    ...MANAGE,
    callers: 'people',
    whileSuspended: 'allowed',
    afterClaim: true,
    status: 200,
    params: at,
    output: Deleted,
  }),
  resend: defineRoute({
    method: 'POST',
    area: 'workspace',
    path: 'invites/{id}/resend',
    summary: 'Resend an invite',
    description: 'Emails a new link with a new expiry. The previous link stops working.',
    ...MANAGE,
    callers: 'people',
    afterClaim: true,
    status: 200,
    params: at,
    output: sent,
  }),
  accept: defineRoute({
    method: 'POST',
    area: 'workspace',
    path: 'invites/accept',
    summary: 'Accept an invite',
    description:
      'Makes you a member of the workspace of the invite and switches your session to it. Only a person who has verified the invited email address can accept it. You need no role in your current workspace, and it may be suspended. The workspace of the invite must not be suspended (403 `workspace_suspended`).',
    ...MANAGE,
    role: 'viewer',
    callers: 'people',
    whileSuspended: 'allowed',
    withoutWorkspace: true,
    afterClaim: true,
    status: 200,
    body: z.strictObject({ token: z.string().min(1).max(100).describe('The text after "#t=" in the link.') }),
    output: z.object({
      workspace: z.object({ id: idOutput('workspace'), slug: z.string(), name: z.string() }),
      role: z.enum(ROLES),
    }),
  }),
} as const
