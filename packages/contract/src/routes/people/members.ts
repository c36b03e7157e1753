import { z } from 'zod'
import { idInput, idOutput } from '../../ids.ts'
import { Deleted, ListQuery, listOf, Timestamp } from '../../list.ts'
import { defineRoute, MANAGE, READ, ROLES } from '../../route.ts'

export const Member = z.object({
  id: idOutput('user'),
  name: z.string(),
  email: z.string().nullable(),
  role: z.enum(ROLES),
  joined_at: Timestamp,
})

const at = z.object({ id: idInput('user') })

export const members = {
  list: defineRoute({
    method: 'GET',
    area: 'workspace',
    path: 'members',
    summary: 'List members',
    description:
      'The members of the workspace with their roles. The id is that of the person. The newest account comes first.',
    ...READ,
    role: 'admin',
    scope: 'service:manage',
    status: 200,
    query: ListQuery,
    output: listOf('members', Member),
  }),
  update: defineRoute({
    method: 'PATCH',
    area: 'workspace',
    path: 'members/{id}',
    summary: 'Change the role of a member',
    description:
      'Neither the current nor the new role of the member may be above yours. The change applies from the next request, also to the API keys of the member. A workspace must have an owner, so the role of the last owner cannot change.',
    ...MANAGE,
    callers: 'people',
    status: 200,
    params: at,
    body: z.strictObject({ role: z.enum(ROLES) }),
    output: z.object({ member: Member }),
  }),
  remove: defineRoute({
    method: 'DELETE',
    area: 'workspace',
    path: 'members/{id}',
    summary: 'Remove a member',
    description:
      'Ends the member’s access immediately and revokes the API keys that the person created. You cannot remove a member with a role above yours, or the last owner. This also works in a suspended workspace.',
    ...MANAGE,
    callers: 'people',
    whileSuspended: 'allowed',
    status: 200,
    params: at,
    output: Deleted,
  }),
  leave: defineRoute({
    method: 'POST',
    area: 'workspace',
    path: 'members/leave',
    summary: 'Leave the workspace',
    description:
      'Ends your access to a workspace and revokes the API keys that you created in it. Afterwards the session works in another of your workspaces. Name the workspace to leave: a repeat then answers 404 and leaves no other workspace. The last owner cannot leave: transfer the ownership or close the workspace first. You can also leave a suspended workspace.',
    ...MANAGE,
    role: 'viewer',
    callers: 'people',
    whileSuspended: 'allowed',
    withoutWorkspace: true,
    status: 200,
    body: z.strictObject({
      workspace_id: idInput('workspace')
        .optional()
        .describe('A workspace that you are a member of. Absent: the current workspace of the session.'),
    }),
    output: Deleted,
  }),
  transferOwnership: defineRoute({
    method: 'POST',
    area: 'workspace',
    path: 'ownership/transfer',
    summary: 'Transfer the ownership',
    description: 'Makes a member the owner and makes you an admin.',
    ...MANAGE,
    role: 'owner',
    callers: 'people',
    status: 200,
    body: z.strictObject({ user_id: idInput('user').describe('A member of this workspace.') }),
    output: z.object({ member: Member }),
  }),
} as const
