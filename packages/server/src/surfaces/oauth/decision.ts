import { encodeId, LIMITS, SCOPES, type Scope } from '@postroad/contract'
import { z } from 'zod'
import type { Ctx } from '../../context.ts'
import { parseJson } from '../../domain/json/json-text.ts'
import { refuse } from '../../domain/refusal.ts'
import { connectionsOf } from '../../resources/people/connected-agents/index.ts'
import { findUser } from '../../resources/people/users/index.ts'
import { listWorkspacesOf } from '../../resources/workspace/workspaces/index.ts'
import { decodedWorkspace } from './workspace-id.ts'

/** The decision of a person about a program that asks. */
export const Decision = z.discriminatedUnion('decision', [
  z.strictObject({ decision: z.literal('deny') }),
  z.strictObject({
    decision: z.literal('allow'),
    scope: z.enum(SCOPES, 'choose service:read, service:write or service:manage'),
    workspace_id: decodedWorkspace,
  }),
])
export type Decision = z.infer<typeof Decision>

/** A person who is signed in. */
export type Person = Ctx & { readonly actor: Ctx['actor'] & { readonly kind: 'person' } }

/** Parses the body of a page of this server. */
export function readBody<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  const read = parseJson(typeof body === 'string' ? body : '', LIMITS.adminJsonDepthMax)
  if (!read.ok) throw refuse('invalid_request', 'The body is not JSON.')
  const parsed = schema.safeParse(read.value)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw refuse('invalid_request', `${issue?.path.join('.') ?? 'body'}: ${issue?.message ?? 'is not valid'}`)
}

const WORKSPACES_MAX = 200

/** The account, and the workspaces that it may connect the program to, with the scope that the program has there. */
export async function choicesOf(person: Person, clientId: string | null) {
  const { userId } = person.actor
  const [user, workspaces, connections] = await Promise.all([
    findUser(person.db, userId),
    listWorkspacesOf(person.db, { userId, before: null, limit: WORKSPACES_MAX }),
    clientId === null ? new Map<string, Scope>() : connectionsOf(person, { userId, clientId }),
  ])
  return {
    account: { name: user?.name ?? '', email: user?.email ?? null },
    workspaces: workspaces
      .map(({ id, name, role }) => ({
        id: encodeId('workspace', id),
        name,
        role,
        current: id === person.workspaceId,
        scope: connections.get(id) ?? null,
      }))
      .toSorted((a, b) => Number(b.current) - Number(a.current)),
  }
}
