import type { Deps } from '../../../context.ts'
import { Refusal } from '../../../domain/refusal.ts'
import type { Room } from '../../verbs.ts'
import { claim } from './claim.ts'
import { isUnclaimed } from './queries.ts'

export { issueChallenge } from './challenge.ts'
export { countedRefusal } from './rate.ts'
export { isRegistrationOpen, requireOpen } from './open.ts'
export { registerAgent, type Registering } from './register.ts'
export { registrationsToday } from './today.ts'

export const agentAccounts: Room<'agentAccounts'> = { claim }

/** The refusal of a route that an agent may call only after a person claimed its account; undefined otherwise. */
export async function claimRefusal({ database }: Deps, workspaceId: string): Promise<Refusal | undefined> {
  if (!(await isUnclaimed(database.forWorkspace(workspaceId), workspaceId))) return undefined
  return new Refusal('agent_not_permitted', {
    text: 'A person must claim this account first. Give the claim URL from your registration to the person you work for.',
    fields: { code: 'agent_not_permitted', claim_required: true },
  })
}
