import { encodeId, LIMITS, type DestinationConfig, type PublicKeys } from '@postroad/contract'
import type { Ctx, Deps } from '../../../context.ts'
import { KINDS } from '../../../domain/delivery/destination-kind.ts'
import { publishedKeyOf, signingOf, type Signing, type StoredSigning } from '../../../domain/delivery/signing-keys.ts'
import { refuse } from '../../../domain/refusal.ts'
import { mintSigningKey } from '../../mint.ts'
import { secretPlace } from '../../secret-place.ts'
import { listSigningKeys, type PublishedRow } from './public-keys/queries.ts'

type Wanted = { readonly id: string; readonly config: DestinationConfig; readonly signing: StoredSigning }

/** The columns of a destination that signs in this way. A key is made once it is needed, and stays with the destination. */
export function signingColumns(
  ctx: Pick<Ctx, 'cipher' | 'randomBytes'>,
  { id, config, signing, held }: Wanted & { readonly held: Buffer | null },
): { readonly signing: StoredSigning; readonly signing_key: Buffer | null } {
  checkSigning(config, signingOf(signing))
  const { header, scheme } = signingOf(signing)
  if (scheme === 'hmac') return { signing: { header }, signing_key: held }
  const made = (): Buffer => ctx.cipher.seal(mintSigningKey(ctx), secretPlace('destinations.signing_key', id))
  return { signing: { header, scheme }, signing_key: held ?? made() }
}

/** Refuses a scheme whose signatures no request would have. */
export function checkSigning({ kind }: DestinationConfig, { header, scheme }: Signing): void {
  if (scheme === 'hmac') return
  if (!KINDS[kind].hasHeaders)
    throw refuse('invalid_request', `signing: a destination of the kind ${kind} has no headers; leave the scheme out.`)
  if (header === 'service' || (scheme === 'ed25519' && header === 'both'))
    throw refuse(
      'invalid_request',
      `signing: ${scheme === 'both' ? 'the scheme both needs the header both or standard' : 'ed25519 signs only the Standard Webhooks headers; send the header standard, or the scheme both'}.`,
    )
}

type Published = PublicKeys[number] & { readonly x: string }

function publishedKeys({ cipher, clock }: Pick<Deps, 'cipher' | 'clock'>, row: PublishedRow): readonly Published[] {
  if (signingOf(row.signing).scheme === 'hmac') return []
  const { signing_key: current, previous_signing_key: previous, previous_secret_expires_at: until } = row
  const keyIn = (sealed: Buffer, column: 'signing_key' | 'previous_signing_key') =>
    publishedKeyOf(cipher.open(sealed, secretPlace(`destinations.${column}`, row.id)).reveal())
  const overlaps = until !== null && until.getTime() > clock.now()
  return [
    ...(current === null ? [] : [{ ...keyIn(current, 'signing_key'), expires_at: null }]),
    ...(previous === null || !overlaps
      ? []
      : [{ ...keyIn(previous, 'previous_signing_key'), expires_at: until.toISOString() }]),
  ]
}

/** The public keys that verify the deliveries of a destination. */
export const publicKeysOf = (deps: Pick<Deps, 'cipher' | 'clock'>, row: PublishedRow): PublicKeys =>
  publishedKeys(deps, row).map(({ id, key, expires_at }) => ({ id, key, expires_at }))

type Asked = { readonly projectId: string; readonly destinationId: string | null }

/** A JWK set (RFC 7517) whose members also have the form of Standard Webhooks. Anyone may read it. */
export async function publishedKeySet(deps: Pick<Deps, 'cipher' | 'clock' | 'database'>, asked: Asked) {
  const { projectId, destinationId: id } = asked
  const rows = await listSigningKeys(deps.database, { projectId, id, limit: LIMITS.publishedDestinationsMax })
  const keys = rows.flatMap((row) => publishedKeys(deps, row).map((key) => ({ ...key, destination: row.id })))
  return {
    keys: keys.map(({ id: kid, key, x, expires_at, destination }) => ({
      kty: 'OKP',
      crv: 'Ed25519',
      use: 'sig',
      alg: 'EdDSA',
      kid,
      x,
      key,
      destination_id: encodeId('destination', destination),
      expires_at,
    })),
  }
}
