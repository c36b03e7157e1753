import { z } from 'zod'
import { headerName, heldHeaderName } from './header-name.ts'
import { LIMITS } from './limits.ts'
import { Timestamp } from './list.ts'

export const VERIFICATION_SCHEMES = [
  'none',
  'payments_provider',
  'code_host',
  'commerce_platform',
  'chat_platform',
  'standard_webhooks',
  'hmac',
] as const
export type VerificationScheme = (typeof VERIFICATION_SCHEMES)[number]

/** By what an event may have been verified: by the scheme of its endpoint, or by the signature that its ingest key requires. */
export const VERIFIED_SCHEMES = [...VERIFICATION_SCHEMES, 'service_signature'] as const

const {
  toleranceSecondsMin,
  toleranceSecondsMax,
  toleranceSecondsDefault,
  verificationSecretCharsMax,
  hmacPrefixCharsMax,
} = LIMITS

const Tolerance = z
  .int('The tolerance is a whole number of seconds.')
  .min(toleranceSecondsMin, `The tolerance is ${toleranceSecondsMin} to ${toleranceSecondsMax} seconds.`)
  .max(toleranceSecondsMax, `The tolerance is ${toleranceSecondsMin} to ${toleranceSecondsMax} seconds.`)
  .describe('How far the timestamp of a request may be from now, in both directions.')

const HeaderName = headerName('X-Signature')

const Algorithm = z.enum(['sha256', 'sha1'], 'The algorithm is sha256 or sha1.')
const Encoding = z.enum(['hex', 'base64'], 'The encoding is hex or base64.')
const Prefix = z
  .string('The prefix is the text before the digest, such as "sha256=".')
  .max(hmacPrefixCharsMax, `A prefix has at most ${hmacPrefixCharsMax} characters.`)
  .regex(/^(?:[\x21-\x7e][\x20-\x7e]*)?$/, 'A prefix is printable ASCII and does not begin with a space.')

export const VerificationSecret = z
  .string('The secret is text.')
  .min(1, 'The secret may not be empty.')
  .max(verificationSecretCharsMax, `A secret has at most ${verificationSecretCharsMax} characters.`)
  .describe('Write-only; never returned.')
const KeySecret = VerificationSecret.refine(
  (secret) =>
    !secret.startsWith('whsec_') ||
    /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2,3}={0,2}|[A-Za-z0-9+/]{4})$/.test(secret.slice(6)),
  'What follows "whsec_" is base64; copy the whole secret of the sender.',
)

const SETTINGS = ['header', 'algorithm', 'encoding', 'prefix', 'tolerance_seconds', 'secret', 'without_secret']

/** One scheme of a form: refuses by name what belongs to another scheme or to another request. */
function variant<const Scheme extends VerificationScheme, Fields extends z.ZodRawShape>(
  scheme: Scheme,
  fields: Fields,
) {
  return z.strictObject(
    { scheme: z.literal(scheme), ...fields },
    {
      error: (issue) => {
        if (issue.code !== 'unrecognized_keys') return 'The verification is an object with a scheme.'
        const names = `"${issue.keys.join('", "')}"`
        return issue.keys.every((key) => SETTINGS.includes(key))
          ? `${names} does not apply to the scheme ${scheme} here; remove it.`
          : `A verification has no property ${names}; remove it.`
      },
    },
  )
}

const schemeError = `The scheme is one of ${VERIFICATION_SCHEMES.join(', ')}.`

const toleranceSetting = { tolerance_seconds: Tolerance.default(toleranceSecondsDefault) }
const hmacSettings = {
  header: HeaderName.default('X-Signature'),
  algorithm: Algorithm.default('sha256'),
  encoding: Encoding.default('hex'),
  prefix: Prefix.default('').describe('The text before the digest.'),
}

const heldHmacSettings = { ...hmacSettings, header: heldHeaderName('X-Signature').default('X-Signature') }

/** A scheme with its settings and nothing secret: what is kept, exported and imported. */
export const VerificationSettings = z.discriminatedUnion(
  'scheme',
  [
    variant('none', {}),
    variant('payments_provider', toleranceSetting),
    variant('code_host', {}),
    variant('commerce_platform', {}),
    variant('chat_platform', toleranceSetting),
    variant('standard_webhooks', toleranceSetting),
    variant('hmac', heldHmacSettings),
  ],
  { error: schemeError },
)
export type VerificationSettings = z.infer<typeof VerificationSettings>

const secretOnCreate = {
  secret: VerificationSecret.optional(),
  without_secret: z
    .literal(true, '"without_secret" is true or left out.')
    .optional()
    .describe('Create the endpoint before the secret is known: every request is answered 401 until it is set.'),
}

/** The verification of a webhook that is being created. */
export const VerificationCreate = z
  .discriminatedUnion(
    'scheme',
    [
      variant('none', {}),
      variant('payments_provider', { ...toleranceSetting, ...secretOnCreate }),
      variant('code_host', secretOnCreate),
      variant('commerce_platform', secretOnCreate),
      variant('chat_platform', { ...toleranceSetting, ...secretOnCreate }),
      variant('standard_webhooks', { ...toleranceSetting, ...secretOnCreate, secret: KeySecret.optional() }),
      variant('hmac', { ...hmacSettings, ...secretOnCreate }),
    ],
    { error: schemeError },
  )
  .superRefine((sent, ctx) => {
    if (sent.scheme === 'none') return
    const { secret, without_secret } = sent
    if (secret !== undefined && without_secret) {
      ctx.addIssue({ code: 'custom', message: 'Send a secret or "without_secret", not both.' })
    }
    if (secret === undefined && !without_secret) {
      const message = `The scheme ${sent.scheme} needs a secret; send it, or "without_secret": true to set it later.`
      ctx.addIssue({ code: 'custom', message, path: ['secret'] })
    }
  })
export type VerificationCreate = z.infer<typeof VerificationCreate>

const toleranceChange = { tolerance_seconds: Tolerance.optional() }
const secretChange = {
  secret: VerificationSecret.optional().describe('If you leave it out, the stored secret stays (same scheme only).'),
}

/** A change of verification. What is left out stays as it is while the scheme is the same (`patchVerification`). */
export const VerificationPatch = z.discriminatedUnion(
  'scheme',
  [
    variant('none', {}),
    variant('payments_provider', { ...toleranceChange, ...secretChange }),
    variant('code_host', secretChange),
    variant('commerce_platform', secretChange),
    variant('chat_platform', { ...toleranceChange, ...secretChange }),
    variant('standard_webhooks', { ...toleranceChange, secret: KeySecret.optional() }),
    variant('hmac', {
      header: HeaderName.optional(),
      algorithm: Algorithm.optional(),
      encoding: Encoding.optional(),
      prefix: Prefix.optional(),
      ...secretChange,
    }),
  ],
  { error: schemeError },
)
export type VerificationPatch = z.infer<typeof VerificationPatch>

/**
 * A verification as every answer shows it; `has_secret` and `previous_secret_expires_at` are absent when the scheme is
 * none.
 */
export const Verification = z.object({
  scheme: z.enum(VERIFICATION_SCHEMES),
  header: z.string().optional(),
  algorithm: Algorithm.optional(),
  encoding: Encoding.optional(),
  prefix: z.string().optional(),
  tolerance_seconds: z.int().optional(),
  has_secret: z.boolean().optional(),
  previous_secret_expires_at: Timestamp.nullable()
    .optional()
    .describe('When the replaced secret stops verifying, after a rotation.'),
})
export type Verification = z.infer<typeof Verification>

/** The settings of a verification that is being created, without its secret. */
export function verificationSettings(created: VerificationCreate): VerificationSettings {
  return VerificationSettings.parse(withoutSecret(created))
}

/**
 * The settings after a change, or the sentence that refuses it: turning a scheme on needs a secret (contract part 2).
 */
export function patchVerification(change: {
  readonly held: VerificationSettings
  readonly patch: VerificationPatch
}): { readonly settings: VerificationSettings } | { readonly error: string } {
  const { held, patch } = change
  const same = held.scheme === patch.scheme
  if (!same && patch.scheme !== 'none' && patch.secret === undefined) {
    return { error: `Turning the scheme ${patch.scheme} on needs its secret; send "secret" with it.` }
  }
  return { settings: VerificationSettings.parse({ ...(same ? held : {}), ...withoutSecret(patch) }) }
}

function withoutSecret(sent: VerificationCreate | VerificationPatch): object {
  return Object.fromEntries(Object.entries(sent).filter(([name]) => name !== 'secret' && name !== 'without_secret'))
}
