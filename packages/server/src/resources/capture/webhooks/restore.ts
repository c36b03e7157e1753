import {
  encodeId,
  HandshakePatch,
  schemeText,
  verifyTokenNeed,
  type RouteInput,
  type Routes,
  type VerificationScheme,
  type WebhookConfig,
} from '@postroad/contract'
import { refuse } from '../../../domain/refusal.ts'
import { inTransaction } from '../../../transaction.ts'
import { audit } from '../../workspace/audit/index.ts'
import { configChanged } from '../../workspace/projects/index.ts'
import type { Room } from '../../verbs.ts'
import { configOf, presentWebhook, type Settings } from './present.ts'
import { findWebhook, type WebhookRow } from './queries.ts'
import { withSecret } from './rotate-secret.ts'
import { changeWebhook } from './update.ts'
import { urlParts } from './url-parts.ts'
import { findVersionOf } from './versions.ts'

type Input = RouteInput<Routes['webhooks']['restoreVersion']>

/** Restores the settings of a version. Versions contain no secrets, so the current ones stay where they still fit. */
export const restoreVersion: Room<'webhooks'>['restoreVersion'] = (ctx, input) =>
  inTransaction(ctx, async (tx) => {
    const { id, version } = input
    const held = await findWebhook(tx.db, { ...tx, id, lock: true })
    if (held === undefined) throw refuse('not_found')
    const { config } = await findVersionOf(tx, input)
    const settings: Settings = {
      ...config,
      verification: verificationOf(held, config, input),
      handshake: handshakeOf(held, config, input),
    }
    const row = await changeWebhook(tx, held, {
      settings,
      restoredFrom: version,
      ...(input.without_secret === true ? { withoutSecret: true } : {}),
    })
    await audit(tx, {
      action: 'restore_webhook_version',
      target: encodeId('webhook', id),
      details: { restored: version, version: row.version },
      change: { before: configOf(held), after: configOf(row) },
    })
    await configChanged(tx)
    return { webhook: presentWebhook(tx, row, await urlParts(tx)) }
  })

function verificationOf(
  held: WebhookRow,
  { verification }: WebhookConfig,
  input: Input,
): NonNullable<Settings['verification']> {
  const { scheme } = verification
  const why = secretRefusal({ scheme, isHeld: scheme === held.verification.scheme }, input)
  if (why !== undefined) throw refuse('invalid_request', why)
  return input.secret === undefined ? verification : withSecret(verification, input.secret)
}

function secretRefusal(
  of: { readonly scheme: VerificationScheme; readonly isHeld: boolean },
  { version, secret, without_secret }: Input,
): string | undefined {
  const sent = [...(secret === undefined ? [] : ['"secret"']), ...(without_secret ? ['"without_secret"'] : [])]
  if (sent.length > 1) return 'Send "secret" or "without_secret", not both.'
  if (of.scheme === 'none')
    return sent.length === 0
      ? undefined
      : `Version ${version} does not verify signatures, so it takes no secret; remove ${sent.join()}.`
  if (of.isHeld) return without_secret ? 'The scheme and its secret stay the same; remove "without_secret".' : undefined
  if (sent.length > 0) return undefined
  return `Version ${version} verifies signatures of the scheme ${schemeText(of.scheme)}, and its secret is no longer stored: send it as "secret", or send "without_secret": true to set it later. Until then the endpoint answers every request with 401.`
}

function handshakeOf(
  held: WebhookRow,
  { handshake }: WebhookConfig,
  { version, verify_token: token }: Input,
): NonNullable<Settings['handshake']> {
  const { has_verify_token: hadToken = false, ...settings } = handshake
  const parsed = HandshakePatch.parse(settings)
  if (verifyTokenNeed(parsed) === 'none') {
    if (token !== undefined)
      throw refuse(
        'invalid_request',
        parsed.kind === 'none'
          ? `Version ${version} has no handshake, so it takes no token; remove "verify_token".`
          : `The handshake of version ${version} takes no token; remove "verify_token".`,
      )
    return parsed
  }
  if (token !== undefined) return HandshakePatch.parse({ ...settings, verify_token: token })
  if (hadToken && (parsed.kind !== held.handshake || held.verify_token === null)) {
    throw refuse(
      'invalid_request',
      `Version ${version} asks for a verify token that is no longer stored: send it as "verify_token".`,
    )
  }
  return parsed
}
