import { SCOPES, type Route } from '@postroad/contract'
import { roleReaches, type Actor } from './actor.ts'
import { Refusal } from '../refusal.ts'

/** The declarations of a route about its permitted callers. */
export type Guards = Pick<
  Route,
  | 'method'
  | 'area'
  | 'role'
  | 'scope'
  | 'callers'
  | 'operator'
  | 'whileSuspended'
  | 'whileClosed'
  | 'ownersWhileSuspended'
  | 'dryRun'
  | 'withoutWorkspace'
  | 'forOneProjectKeys'
  | 'refusesIdempotencyKey'
  | 'afterClaim'
>

/**
 * The project in a path. `default`: an alias of the Default project, or a workspace route. `unknown`: a text that is not an id,
 * which is refused like the id of a missing project.
 */
export type NamedProject =
  | { readonly kind: 'default' }
  | { readonly kind: 'named'; readonly id: string }
  | { readonly kind: 'unknown' }

/** Contract part 5: actions that no agent and no key may ever do, at any scope or role. */
export function callerRefusal(actor: Actor, route: Pick<Guards, 'callers'>): Refusal | undefined {
  if (route.callers === 'all' || (actor.kind !== 'api_key' && actor.kind !== 'agent')) return undefined
  return new Refusal('agent_not_permitted', { fields: { code: 'agent_not_permitted' } })
}

/** Compares the current role with the minimum role of the route. */
export function roleRefusal(actor: Actor, route: Pick<Guards, 'role'>): Refusal | undefined {
  if (roleReaches(actor.role, route.role)) return undefined
  const whom = route.role === 'owner' ? 'an owner' : 'an admin'
  return insufficientRole(
    `This requires the ${route.role} role, and yours is ${actor.role}. Ask ${whom} of the workspace.`,
  )
}

/** Contract part 5: people read these two words first, then the required role and the remedy. */
export function insufficientRole(text: string): Refusal {
  return new Refusal('insufficient_role', {
    text: `Insufficient role. ${text}`,
    fields: { code: 'insufficient_role' },
  })
}

/** An action of an operator, requested by a person who is not one. No role in a workspace would help. */
export function operatorRefusal(): Refusal {
  return insufficientRole(
    'Only an operator of the installation can do this. Ask the person who runs the server to add your email address to OPERATORS.',
  )
}

/** A connected agent's grant. A higher scope includes the lower ones. A key and a person have no scope, only a role. */
export function scopeRefusal(actor: Actor, { scope }: Pick<Guards, 'scope'>): Refusal | undefined {
  if (actor.kind !== 'agent' || actor.scopes.some((granted) => SCOPES.indexOf(granted) >= SCOPES.indexOf(scope)))
    return undefined
  return new Refusal('agent_scope_insufficient', {
    fields: {
      code: 'agent_scope_insufficient',
      required_scope: scope,
      granted_scopes: [...actor.scopes],
      manage_url: actor.manageUrl,
    },
  })
}
