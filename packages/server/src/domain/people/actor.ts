import type { Role, Scope } from '@postroad/contract'

/** The acting subject. A key acts as the member who created it, limited to the key's own role (contract part 5). */
export type Actor =
  | {
      readonly kind: 'person'
      readonly userId: string
      readonly role: Role
      /** The session of the request. */ readonly sessionId: string
    }
  | {
      readonly kind: 'api_key'
      readonly keyId: string
      readonly userId: string
      readonly role: Role
      /** The only project of a one-project key. */
      readonly projectId: string | null
    }
  | {
      /** A connected agent acts as the person who connected it, within the grant of that person. */
      readonly kind: 'agent'
      /** The id of its grant. */ readonly agentId: string
      readonly userId: string
      readonly role: Role
      readonly scopes: readonly Scope[]
      /** The page where the person widens the grant. */
      readonly manageUrl: string
    }
  | {
      /** An operator of the installation, who acts on a workspace from outside. */
      readonly kind: 'operator'
      readonly userId: string
      readonly role: Role
    }
  | {
      /** A customer in a portal, who changes only what belongs to them. */
      readonly kind: 'customer'
      readonly customerId: string
      readonly role: Role
    }
  | { readonly kind: 'system'; readonly role: Role }

/** The higher role includes the lower ones. */
const RANK: Readonly<Record<Role, number>> = { viewer: 0, developer: 1, admin: 2, owner: 3 }

export function roleReaches(role: Role, least: Role): boolean {
  return RANK[role] >= RANK[least]
}

export function lesserRole(a: Role, b: Role): Role {
  return RANK[a] <= RANK[b] ? a : b
}

/** The person who acts, or who owns the key or agent that acts; null for a customer and for the system. */
export const creatorOf = (actor: Actor): string | null => ('userId' in actor ? actor.userId : null)
