import { timingSafeEqual } from 'node:crypto'
import { LIMITS } from '@postroad/contract'
import { hashCredential } from '../../platform/cipher.ts'
import type { HandshakePlan } from '../directory.ts'
import { reject, type Answered, type Rejected } from '../types.ts'
import type { Check } from './passage.ts'

/** Contract part 4, ingest rule 1: nothing is stored or counted, and every GET that comes this far ends here. */
export const checkHandshake: Check = (_deps, { captured: { asked }, receiver: { webhook } }) => {
  if (asked.kind !== 'handshake') return undefined
  const handshake = webhook?.handshake
  if (handshake?.kind !== 'hub_challenge') {
    return reject('handshake_failed', {
      text: 'This endpoint does not answer a hub.challenge. Set its handshake to hub_challenge with the verify token.',
    })
  }
  if (!fits(asked.challenge)) return reject('invalid_challenge')
  if (asked.mode !== 'subscribe')
    return reject('handshake_failed', { text: 'The hub.mode of a handshake is "subscribe".' })
  return answer(handshake, { token: asked.token, challenge: asked.challenge })
}

/** `{"type":"url_verification","challenge":…}` comes as a POST, so this runs after the signature check. It is never stored. */
export const checkUrlVerification: Check = (_deps, { payload, receiver: { webhook } }) => {
  const handshake = webhook?.handshake
  if (handshake?.kind !== 'url_verification' || typeof payload !== 'object' || payload === null) return undefined
  const { type, challenge, token }: { type?: unknown; challenge?: unknown; token?: unknown } = payload
  if (type !== 'url_verification' || typeof challenge !== 'string') return undefined
  if (!fits(challenge)) return reject('invalid_challenge')
  if (handshake.tokenHash === undefined) return { kind: 'answered', with: 'challenge', challenge }
  return answer(handshake, { token, challenge })
}

function fits(challenge: string): boolean {
  return challenge.length > 0 && challenge.length <= LIMITS.challengeCharsMax
}

/** Compares hashes in constant time, so that the duration of a refusal reveals neither the token nor its length. */
function answer({ tokenHash }: HandshakePlan, given: { token: unknown; challenge: string }): Answered | Rejected {
  const { token, challenge } = given
  const same = typeof token === 'string' && tokenHash !== undefined && timingSafeEqual(hashCredential(token), tokenHash)
  return same ? { kind: 'answered', with: 'challenge', challenge } : reject('handshake_failed')
}
