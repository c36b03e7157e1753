import type { HandshakeCreate, HandshakePatch } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { refuse } from '../../../domain/refusal.ts'
import { secretPlace } from '../../../domain/secret-place.ts'
import type { WebhookRow } from './queries.ts'

type Held = Pick<WebhookRow, 'id' | 'handshake' | 'verify_token'>
type Columns = Omit<Held, 'id'>

/** The columns of a new handshake, with its token sealed for its row. */
export function handshakeColumns(ctx: Ctx, of: { id: string; sent: HandshakeCreate | HandshakePatch }): Columns {
  const { id, sent } = of
  const token = 'verify_token' in sent ? sent.verify_token : undefined
  return {
    handshake: sent.kind,
    verify_token: token === undefined ? null : ctx.cipher.seal(token, secretPlace('webhooks.verify_token', id)),
  }
}

/** The columns after a change. While the kind stays, a missing token means the stored one. Another kind starts without a token. */
export function changedHandshake(ctx: Ctx, held: Held, sent: HandshakePatch | undefined): Columns {
  if (sent === undefined) return { handshake: held.handshake, verify_token: held.verify_token }
  const changed = handshakeColumns(ctx, { id: held.id, sent })
  const verify_token = changed.verify_token ?? (sent.kind === held.handshake ? held.verify_token : null)
  if (sent.kind === 'hub_challenge' && verify_token === null) {
    throw refuse(
      'invalid_request',
      'handshake: hub_challenge needs the verify token of the provider; send it as "verify_token".',
    )
  }
  return { handshake: sent.kind, verify_token }
}
