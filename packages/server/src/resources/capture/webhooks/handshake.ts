import {
  verifyTokenNeed,
  type Handshake,
  type HandshakeCreate,
  type HandshakeForm,
  type HandshakePatch,
} from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { refuse } from '../../../domain/refusal.ts'
import { secretPlace } from '../../secret-place.ts'
import type { WebhookRow } from './queries.ts'

type Held = Pick<WebhookRow, 'id' | 'handshake' | 'handshake_form' | 'verify_token'>
type Columns = Omit<Held, 'id'>

/** The columns of a new handshake, with its token sealed for its row. */
export function handshakeColumns(ctx: Ctx, of: { id: string; sent: HandshakeCreate | HandshakePatch }): Columns {
  const { id, sent } = of
  const token = 'verify_token' in sent ? sent.verify_token : undefined
  return {
    handshake: sent.kind,
    handshake_form: sent.kind === 'custom' ? formOf(sent) : null,
    verify_token: token === undefined ? null : ctx.cipher.seal(token, secretPlace('webhooks.verify_token', id)),
  }
}

const formOf = ({ when, proof, answer }: HandshakeForm): HandshakeForm => ({ when, proof, answer })

/**
 * The columns after a change. While the kind stays and has a use for a token, a missing token means the stored one. Another kind
 * starts without a token.
 */
export function changedHandshake(ctx: Ctx, held: Held, sent: HandshakePatch | undefined): Columns {
  if (sent === undefined) {
    const { handshake, handshake_form, verify_token } = held
    return { handshake, handshake_form, verify_token }
  }
  const changed = handshakeColumns(ctx, { id: held.id, sent })
  const need = verifyTokenNeed(sent)
  const isRetained = need !== 'none' && sent.kind === held.handshake
  const verify_token = changed.verify_token ?? (isRetained ? held.verify_token : null)
  if (need === 'required' && verify_token === null) {
    throw refuse(
      'invalid_request',
      sent.kind === 'custom'
        ? 'handshake: this form needs the verify token of the provider; send it as "verify_token".'
        : 'handshake: hub_challenge needs the verify token of the provider; send it as "verify_token".',
    )
  }
  return { ...changed, verify_token }
}

/** The setting as shown, without its token. */
export function presentHandshake({ handshake: kind, handshake_form: form, verify_token }: Omit<Held, 'id'>): Handshake {
  return kind === 'none' ? { kind } : { kind, has_verify_token: verify_token !== null, ...form }
}
