import type { Ctx, Deps } from './context.ts'

type Person = {
  readonly userId: string
  readonly sessionId: string
  /** Null for a person who is in no workspace. */
  readonly workspaceId: string | null
  readonly requestId: string
  readonly ip: string | undefined
}

/** The context of a verb when a person acts on their own account. That needs no role, so this context has the lowest one. */
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
