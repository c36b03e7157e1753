import type { Ctx } from '../../../context.ts'
import { bodySettings } from '../../../domain/delivery/delivery-body.ts'
import { signingOf } from '../../../domain/delivery/signing-keys.ts'
import { refuse } from '../../../domain/refusal.ts'
import { openHeaders } from './headers.ts'
import { findDestination } from './queries.ts'
import { openReach } from './reach.ts'

/** The settings of requests to a destination, with its secrets in plain text. Never put them into a response. */
export async function destinationSettings(ctx: Ctx, id: string) {
  const held = await findDestination(ctx.db, { ...ctx, id })
  if (held === undefined) throw refuse('not_found')
  const { url, config, signing, payload_template, transform_id } = held
  const reach = { auth: openReach(ctx, held).auth, headers: openHeaders(ctx, held) }
  return { url, config, ...reach, signing: signingOf(signing), payload_template, transform_id, ...bodySettings(held) }
}
