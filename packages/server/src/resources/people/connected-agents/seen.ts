import { LIMITS, type Scope } from '@postroad/contract'
import type { Deps } from '../../../context.ts'
import { setRefusal, touchAgent } from './queries.ts'

type Call = {
  readonly workspaceId: string
  readonly agentId: string
  /** The operation, such as `destinations.list`. */
  readonly call: string
}
type Tools = Pick<Deps, 'database' | 'clock'>

/** Stores the last call of an agent, at most once a minute. */
export async function noteCall({ database, clock }: Tools, { workspaceId, agentId: id, call }: Call): Promise<void> {
  const now = clock.now()
  const since = new Date(now - LIMITS.agentUsePersistMs)
  await touchAgent(database, { workspaceId, id, call, now: new Date(now), since })
}

/** Stores the last refusal of an agent, so that the person sees the call that it could not make. */
export async function noteRefusal(
  { database, clock }: Tools,
  { workspaceId, agentId: id, call, reason, scope }: Call & { reason: string; scope: Scope | null },
): Promise<void> {
  const now = clock.now()
  const since = new Date(now - LIMITS.agentRefusalPersistMs)
  await setRefusal(database, { workspaceId, id, call, reason, scope, now: new Date(now), since })
}
