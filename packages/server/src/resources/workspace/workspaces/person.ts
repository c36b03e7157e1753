import type { Ctx } from '../../../context.ts'
import type { Actor } from '../../../domain/people/actor.ts'
import { refuse } from '../../../domain/refusal.ts'

/** The person who is signed in. Routes for people admit only people; this proves it to the compiler. */
export function personOf({ actor }: Pick<Ctx, 'actor'>): Actor & { readonly kind: 'person' } {
  if (actor.kind !== 'person') throw refuse('agent_not_permitted')
  return actor
}
