import { z } from 'zod'
import { PlainPath } from './condition.ts'
import { headerName } from './header-name.ts'
import { LIMITS } from './limits.ts'
import { storable } from './list.ts'

/** The form of a handshake: where the question of a provider is, what proves it, and what is answered. */

export const HANDSHAKE_KINDS = [
  'none',
  'hub_challenge',
  'url_verification',
  'sns_subscription',
  'discord_ping',
  'zoom_validation',
  'twitch_challenge',
  'custom',
] as const
export type HandshakeKind = (typeof HANDSHAKE_KINDS)[number]

export const HANDSHAKE_METHODS = ['POST', 'GET', 'OPTIONS'] as const
export const HANDSHAKE_STATUSES = [200, 201, 202, 204] as const
export const HANDSHAKE_TYPES = ['text/plain', 'application/json'] as const

// The question

/** A header of the question or of the answer. */
export const HandshakeHeader = headerName('X-Hook-Secret').min(1, 'may not be empty')
const Parameter = storable(z.string())
  .min(1, 'may not be empty')
  .max(LIMITS.conditionPathCharsMax, `has at most ${LIMITS.conditionPathCharsMax} characters`)
const Text = storable(z.string()).max(LIMITS.conditionPathCharsMax)

const BodyPath = storable(PlainPath)

const several = <Schema extends z.ZodType>(one: Schema, error: string) =>
  z.union([one, z.array(one).min(1).max(LIMITS.handshakeConditionsMax)], {
    error: ({ input }) =>
      Array.isArray(input) && input.length > LIMITS.handshakeConditionsMax
        ? `has at most ${LIMITS.handshakeConditionsMax} items`
        : error,
  })

const When = z
  .strictObject({
    method: z
      .enum(HANDSHAKE_METHODS, `must be one of ${HANDSHAKE_METHODS.join(', ')}`)
      .optional()
      .describe('Absent: POST or GET.'),
    header: several(
      z.union([HandshakeHeader, z.strictObject({ name: HandshakeHeader, equals: Text })]),
      'is the name of a header, such as "X-Hook-Secret", or {"name", "equals"}, or a list of these',
    ).optional(),
    query: several(
      z.union([Parameter, z.strictObject({ name: Parameter, equals: Text })]),
      'is the name of a query parameter, such as "challenge", or {"name", "equals"}, or a list of these',
    ).optional(),
    body_path: several(
      z.union([
        BodyPath,
        z.strictObject({ path: BodyPath, equals: z.union([Text, z.number(), z.boolean()]) }),
        z.strictObject({ path: BodyPath, absent: z.literal(true) }),
      ]),
      'is a dot path into the JSON body, such as "challenge", or {"path", "equals"}, or {"path", "absent": true}, or a list of these',
    ).optional(),
  })
  .describe('The question. Every named place must have a text, or the value of `equals`. Other requests are events.')

// The proof and the answer

const Proof = z
  .discriminatedUnion(
    'kind',
    [
      z.strictObject({ kind: z.literal('signature') }),
      z
        .strictObject({
          kind: z.literal('token'),
          header: HandshakeHeader.optional(),
          query: Parameter.optional(),
          body_path: BodyPath.optional(),
        })
        .refine(
          ({ header, query, body_path }) =>
            [header, query, body_path].filter((place) => place !== undefined).length === 1,
          'needs one of header, query and body_path: the place of the token',
        ),
    ],
    { error: 'The kind of a proof is token or signature.' },
  )
  .nullable()
  .describe(
    '`token`: this value equals the verify token. `signature`: the signature check of the endpoint passed. null: none; the answer shows only what was asked.',
  )

const Template = storable(z.string('is text'))

const Answer = z
  .strictObject({
    status: z.literal(HANDSHAKE_STATUSES, `must be one of ${HANDSHAKE_STATUSES.join(', ')}`).default(200),
    content_type: z.enum(HANDSHAKE_TYPES, `must be one of ${HANDSHAKE_TYPES.join(', ')}`).default('text/plain'),
    headers: z
      .record(z.string(), Template.max(LIMITS.handshakeHeaderCharsMax))
      .refine(
        (headers) => Object.keys(headers).length <= LIMITS.handshakeHeadersMax,
        `has at most ${LIMITS.handshakeHeadersMax} headers`,
      )
      .default({}),
    body: Template.refine(
      (text) => new TextEncoder().encode(text).length <= LIMITS.responseBodyBytesMax,
      `has at most ${LIMITS.responseBodyBytesMax.toLocaleString('en')} bytes in UTF-8`,
    ).default(''),
  })
  .describe(
    'Body and headers can have `{{ query.x }}`, `{{ header.x }}`, `{{ body.x }}`, each 1 to 2,048 characters, `{{ header.x | default: "*" }}`, and ' +
      '`{{ hmac_sha256 body.x }}` with the verification secret, in hex or `base64`. In JSON they are inside of strings.',
  )

export const HANDSHAKE_FORM = { when: When, proof: Proof.default(null), answer: Answer }
const FormObject = z.strictObject(HANDSHAKE_FORM)
export type HandshakeForm = z.infer<typeof FormObject>
