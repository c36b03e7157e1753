import { refuse } from '../../../domain/refusal.ts'
import { checkConditions } from '../../check-conditions.ts'
import { dryRun } from '../../dry-run.ts'
import type { Room } from '../../verbs.ts'
import { findWebhook } from './queries.ts'

/** Tries the criteria and mappings of the endpoint, or those that the request has instead. */
export const tryOut: Room<'webhooks'>['test'] = async (ctx, { id, criteria, mappings, ...on }) => {
  checkConditions(criteria, 'criteria')
  const held = await findWebhook(ctx.db, { ...ctx, id })
  if (held === undefined) throw refuse('not_found')
  return dryRun(ctx, {
    ...on,
    conditions: criteria ?? held.criteria,
    mappings: mappings ?? held.mappings,
    split: held.split,
    webhookId: id,
  })
}
