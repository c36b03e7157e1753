import { SECRET_PREFIXES } from '@postroad/contract'
import type { Ctx } from '../context.ts'
import { secretKeyOf, SEED_BYTES } from '../domain/delivery/signing-keys.ts'

/** 43 characters of base62 contain 256 bits. */
const SECRET_CHARS = 43
const SIGNING_SECRET_BYTES = 32

/** A new secret or token of 256 bits, after the prefix that its kind has in the contract. */
export function mintSecret({ randomText }: Pick<Ctx, 'randomText'>, kind?: keyof typeof SECRET_PREFIXES): string {
  return (kind === undefined ? '' : SECRET_PREFIXES[kind]) + randomText(SECRET_CHARS)
}

/** A new signing secret of 256 bits, in the form that Standard Webhooks libraries take: `whsec_<base64>`. */
export function mintSigningSecret({ randomBytes }: Pick<Ctx, 'randomBytes'>): string {
  return SECRET_PREFIXES.signingSecret + randomBytes(SIGNING_SECRET_BYTES).toString('base64')
}

/** A new ed25519 key for deliveries, in the form of Standard Webhooks: `whsk_<base64>`. */
export function mintSigningKey({ randomBytes }: Pick<Ctx, 'randomBytes'>): string {
  return secretKeyOf(randomBytes(SEED_BYTES))
}
