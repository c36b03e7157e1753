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
      'Who is in the workspace, and with which role. The id is that of the person; who has had an account for the shortest time comes first.',
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
      'Neither the role that the member has nor the new one may be above your own. It counts from the next request on, for the API keys of the member too. A workspace must have an owner: the last one stays owner.',
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
      'Ends what the person may do here, at once, and revokes the API keys that the person made. Nobody removes a member with a role above their own, nor the last owner. A suspended workspace may do this too.',
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
      'Ends what you may do there and revokes the API keys that you made. Afterwards the session works in another workspace of yours, so name the one to leave: a repeat then answers 404, and leaves no other. The last owner cannot leave: transfer the ownership first, or close the workspace. A suspended workspace can be left too.',
    ...MANAGE,
    role: 'viewer',
    callers: 'people',
    whileSuspended: 'allowed',
    withoutWorkspace: true,
    status: 200,
    body: z.strictObject({
      workspace_id: idInput('workspace')
        .optional()
        .describe('One that you are a member of. Absent: the one where the session works at the moment.'),
    }),
    output: Deleted,
  }),
  transferOwnership: defineRoute({
    method: 'POST',
    area: 'workspace',
    path: 'ownership/transfer',
    summary: 'Transfer the ownership',
    description: 'Makes a member owner, and you an admin.',
    ...MANAGE,
    role: 'owner',
    callers: 'people',
    status: 200,
    body: z.strictObject({ user_id: idInput('user').describe('A member of this workspace.') }),
    output: z.object({ member: Member }),
  }),
} as const
