import type { Ctx, Deps } from './context.ts'

/** The context of a verb when the operator runs it as a command: no member acts, so the audit row names the system. */
export function asSystem(deps: Deps, at: { workspaceId: string; projectId: string; requestId: string }): Ctx {
  return {
    ...deps,
    ...at,
    database: deps.database.forSystem,
    db: deps.database.forSystem,
    actor: { kind: 'system', role: 'owner' },
    ip: undefined,
  }
}
