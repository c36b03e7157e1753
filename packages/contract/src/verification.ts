import {
  BODY_HASH_ENCODINGS,
  DIGEST_ENCODINGS,
  HMAC_ALGORITHMS,
  KEY_ENCODINGS,
  PUBLIC_KEY_ALGORITHMS,
  TIMESTAMP_FORMATS,
} from '@postroad/verify/described-content'
import { z } from 'zod'
import {
  ADDITIVE_SETTING_NAMES,
  additiveChanges,
  additiveSettings,
  issuerMisfit,
  misfitOf,
} from './additive-schemes.ts'
import { headerName, heldHeaderName } from './header-name.ts'
import { LIMITS } from './limits.ts'
import { Timestamp } from './list.ts'
import { PRODUCTS_TEXT, schemeText, VERIFICATION_SCHEMES, type VerificationScheme } from './schemes.ts'

const SCHEME_MEANING =
  `${PRODUCTS_TEXT}. The secret of aws_sns is the ARN of the topic, of paypal the ID of the webhook, of oidc_bearer the ` +
  'identity in the token; Postroad fetches their certificates and keys.'

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
  .describe('The maximum difference to the current time, both ways.')

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
  'The text after "whsec_" must be base64; copy the whole secret of the sender.',
)

const SETTINGS: readonly string[] = [
  'header',
  'algorithm',
  'encoding',
  'prefix',
  'tolerance_seconds',
  'secret',
  'without_secret',
  ...ADDITIVE_SETTING_NAMES,
]

/** One scheme of a form. It refuses by name each setting that belongs to another scheme or to another request. */
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
          ? `${names} does not apply to the scheme ${schemeText(scheme)} here; remove it.`
          : `A verification has no property ${names}; remove it.`
      },
    },
  )
}

const schemeError = `The scheme is one of ${VERIFICATION_SCHEMES.map(schemeText).join(', ')}.`

const toleranceSetting = { tolerance_seconds: Tolerance.default(toleranceSecondsDefault) }
const hmacSettings = {
  header: HeaderName.default('X-Signature'),
  algorithm: Algorithm.default('sha256'),
  encoding: Encoding.default('hex'),
  prefix: Prefix.default('').describe('The text before the digest.'),
}

/** Settings of a signature over a described content, which must fit together. */
function fitting<Form extends z.ZodType<Parameters<typeof misfitOf>[0]>>(form: Form): Form {
  return form.superRefine((settings, ctx) => {
    const message = misfitOf(settings)
    if (message !== undefined) ctx.addIssue({ code: 'custom', message })
  })
}

/** An issuer whose keys can be found. */
function findable<Form extends z.ZodType<Parameters<typeof issuerMisfit>[0]>>(form: Form): Form {
  return form.superRefine((settings, ctx) => {
    const message = issuerMisfit(settings)
    if (message !== undefined) ctx.addIssue({ code: 'custom', message, path: ['issuer'] })
  })
}

const additive = additiveSettings(HeaderName)
const heldAdditive = additiveSettings(heldHeaderName('X-Signature'))
const changed = additiveChanges(HeaderName)

const heldHmacSettings = { ...hmacSettings, header: heldHeaderName('X-Signature').default('X-Signature') }

/** A scheme with its settings and without secrets: the form that is stored, exported and imported. */
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
    fitting(variant('custom_hmac', heldAdditive.custom_hmac)),
    fitting(variant('public_key', heldAdditive.public_key)),
    variant('static_token', heldAdditive.static_token),
    variant('basic_auth', {}),
    variant('jwt', heldAdditive.jwt),
    findable(variant('oidc_bearer', heldAdditive.oidc_bearer)),
    variant('aws_sns', {}),
    variant('paypal', {}),
  ],
  { error: schemeError },
)
export type VerificationSettings = z.infer<typeof VerificationSettings>

const secretOnCreate = {
  secret: VerificationSecret.optional(),
  without_secret: z
    .literal(true, '"without_secret" is true or left out.')
    .optional()
    .describe('Set the secret later. Until then, every request gets 401.'),
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
      fitting(variant('custom_hmac', { ...additive.custom_hmac, ...secretOnCreate })),
      fitting(variant('public_key', { ...additive.public_key, ...secretOnCreate })),
      variant('static_token', { ...additive.static_token, ...secretOnCreate }),
      variant('basic_auth', secretOnCreate),
      variant('jwt', { ...additive.jwt, ...secretOnCreate }),
      findable(variant('oidc_bearer', { ...additive.oidc_bearer, ...secretOnCreate })),
      variant('aws_sns', secretOnCreate),
      variant('paypal', secretOnCreate),
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
      const message = `The scheme ${schemeText(sent.scheme)} needs a secret; send it, or "without_secret": true to set it later.`
      ctx.addIssue({ code: 'custom', message, path: ['secret'] })
    }
  })
  .describe(SCHEME_MEANING)
export type VerificationCreate = z.infer<typeof VerificationCreate>

const toleranceChange = { tolerance_seconds: Tolerance.optional() }
const secretChange = {
  secret: VerificationSecret.optional().describe(
    'A change that leaves it out retains the stored secret (same scheme only).',
  ),
}

/** A change of verification. Members that are left out stay as they are while the scheme is the same (`patchVerification`). */
export const VerificationPatch = z
  .discriminatedUnion(
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
      variant('custom_hmac', { ...changed.custom_hmac, ...secretChange }),
      variant('public_key', { ...changed.public_key, ...secretChange }),
      variant('static_token', { ...changed.static_token, ...secretChange }),
      variant('basic_auth', secretChange),
      variant('jwt', { ...changed.jwt, ...secretChange }),
      variant('oidc_bearer', { ...changed.oidc_bearer, ...secretChange }),
      variant('aws_sns', secretChange),
      variant('paypal', secretChange),
    ],
    { error: schemeError },
  )
  .describe(SCHEME_MEANING)
export type VerificationPatch = z.infer<typeof VerificationPatch>

/** A verification in responses. `has_secret` and `previous_secret_expires_at` are absent when the scheme is none. */
export const Verification = z.object({
  scheme: z.enum(VERIFICATION_SCHEMES).describe(SCHEME_MEANING),
  header: z.string().optional(),
  algorithm: z.enum([...HMAC_ALGORITHMS, ...PUBLIC_KEY_ALGORITHMS]).optional(),
  encoding: z.enum(DIGEST_ENCODINGS).optional(),
  prefix: z.string().optional(),
  signed: z.string().optional(),
  signature_item: z.string().nullable().optional(),
  timestamp_header: z.string().nullable().optional(),
  timestamp_item: z.string().nullable().optional(),
  timestamp_format: z.enum(TIMESTAMP_FORMATS).optional(),
  id_header: z.string().nullable().optional(),
  key_encoding: z.enum(KEY_ENCODINGS).optional(),
  body_hash_claim: z.string().optional(),
  body_hash_encoding: z.enum(BODY_HASH_ENCODINGS).optional(),
  signature_path: z.string().nullable().optional(),
  timestamp_path: z.string().nullable().optional(),
  issuer: z.string().optional(),
  audience: z.string().nullable().optional(),
  identity_claim: z.string().optional(),
  jwks_uri: z.string().nullable().optional(),
  tolerance_seconds: z.int().nullable().optional(),
  has_secret: z.boolean().optional(),
  previous_secret_expires_at: Timestamp.nullable()
    .optional()
    .describe('The time at which the replaced secret stops working, after a rotation.'),
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
    return { error: `The scheme ${schemeText(patch.scheme)} needs its secret; send "secret" with it.` }
  }
  const settings = VerificationSettings.safeParse({ ...(same ? held : {}), ...withoutSecret(patch) })
  return settings.success
    ? { settings: settings.data }
    : { error: settings.error.issues[0]?.message ?? 'These settings do not fit together.' }
}

function withoutSecret(sent: VerificationCreate | VerificationPatch): object {
  return Object.fromEntries(Object.entries(sent).filter(([name]) => name !== 'secret' && name !== 'without_secret'))
}
