import type { Ctx, Deps } from './context.ts'

type Person = {
  readonly userId: string
  readonly sessionId: string
  /** Null for who is in no workspace. */
  readonly workspaceId: string | null
  readonly requestId: string
  readonly ip: string | undefined
}

/** What a verb has when a person acts on their own account. That needs no role, so this carries the least. */
export function asPerson(deps: Deps, { userId, sessionId, workspaceId, requestId, ip }: Person): Ctx {
  return {
    ...deps,
    database: deps.database.forSystem,
    db: deps.database.forSystem,
    actor: { kind: 'person', userId, sessionId, role: 'viewer' },
    workspaceId: workspaceId ?? '',
    projectId: '',
    requestId,
    ip,
  }
}
