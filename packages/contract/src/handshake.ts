import { z } from 'zod'
import { PlainPath } from './condition.ts'
import { headerName } from './header-name.ts'
import { bodyPieces, handshakeConditions, placesOf, verifyTokenNeed } from './handshake-parts.ts'
import { handshakePieces } from './handshake-template.ts'
import { LIMITS } from './limits.ts'
import { storable } from './list.ts'

/**
 * The handshake of an endpoint: the request by which a provider checks who controls it, and the answer. One form describes where the
 * question is, what proves it, and what is answered. The kinds are names for forms (`handshake-forms.ts`).
 */

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

export const VerifyToken = z
  .string('Send a verify token: text that the sender repeats.')
  .min(1, 'The verify token may not be empty.')
  .max(LIMITS.verifyTokenCharsMax, `A verify token has at most ${LIMITS.verifyTokenCharsMax} characters.`)
  .describe('Write-only; never returned.')

export const HANDSHAKE_METHODS = ['POST', 'GET', 'OPTIONS'] as const
export const HANDSHAKE_STATUSES = [200, 201, 202, 204] as const
export const HANDSHAKE_TYPES = ['text/plain', 'application/json'] as const

// The question

const Header = headerName('X-Hook-Secret').min(1, 'may not be empty')
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
      z.union([Header, z.strictObject({ name: Header, equals: Text })]),
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
          header: Header.optional(),
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

const REFUSED_HEADERS = new RegExp(
  `^(?:${[
    'content-.*|access-control-.*|cross-origin-.*|sec-.*|proxy-.*|service-worker-.*|public-key-pins.*',
    'set-cookie2?|cookie|location|refresh|link|host|server|date|via|age|expires|pragma|etag|last-modified|allow|vary',
    'connection|keep-alive|transfer-encoding|trailer|te|upgrade|alt-svc|cache-control|retry-after|request-id',
    'strict-transport-security|expect-ct|www-authenticate|authorization|clear-site-data|origin-agent-cluster',
    'permissions-policy|referrer-policy|report-to|reporting-endpoints|nel|sourcemap',
    'x-content-type-options|x-frame-options|x-xss-protection|x-dns-prefetch-control',
  ].join('|')})$`,
  'i',
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

const FORM = { when: When, proof: Proof.default(null), answer: Answer }
const FormObject = z.strictObject(FORM)
export type HandshakeForm = z.infer<typeof FormObject>

/** A form that cannot work is refused when it is saved. */
function checkForm(form: HandshakeForm, ctx: z.RefinementCtx): void {
  for (const { path, message } of formProblems(form)) ctx.addIssue({ code: 'custom', path: [...path], message })
}

type Problem = { readonly path: readonly string[]; readonly message: string }

function* formProblems({ when, proof, answer }: HandshakeForm): Generator<Problem> {
  const conditions = handshakeConditions(when)
  const hasBody = (when.method ?? 'POST') === 'POST'
  if (conditions.length === 0)
    yield { path: ['when'], message: 'needs header, query or body_path: the place of the question' }
  if (!hasBody && when.body_path !== undefined)
    yield { path: ['when', 'body_path'], message: `does not fit: a ${when.method} has no body` }
  if (proof?.kind === 'signature' && when.method !== 'POST')
    yield {
      path: ['when', 'method'],
      message: 'must be POST for the proof "signature", because only events are signed',
    }
  if (!hasBody && proof?.kind === 'token' && proof.body_path !== undefined)
    yield { path: ['proof', 'body_path'], message: `does not fit: a ${when.method} has no body` }
  yield* answerProblems(answer, hasBody)
}

function* answerProblems(answer: HandshakeForm['answer'], hasBody: boolean): Generator<Problem> {
  const { status, body, headers } = answer
  if (status === 204 && body !== '')
    yield {
      path: ['answer', 'body'],
      message: 'must be empty with the status 204, because such a response has no body',
    }
  for (const name of Object.keys(headers)) {
    const message = headerProblem(name)
    if (message !== undefined) yield { path: ['answer', 'headers', name], message }
  }
  const texts = [
    [['answer', 'body'], bodyPieces(answer)] as const,
    ...Object.entries(headers).map(([name, text]) => [['answer', 'headers', name], handshakePieces(text)] as const),
  ]
  let outputs = 0
  for (const [path, pieces] of texts) {
    if ('error' in pieces) yield { path, message: pieces.error }
    else {
      outputs += pieces.filter((piece) => typeof piece !== 'string').length
      if (!hasBody && placesOf(pieces).some((place) => place.in === 'body'))
        yield { path, message: 'reads the body, but such a question has none' }
    }
  }
  if (outputs > LIMITS.handshakeOutputsMax)
    yield { path: ['answer'], message: `has at most ${LIMITS.handshakeOutputsMax} {{ … }}` }
}

function headerProblem(name: string): string | undefined {
  const invalid = Header.safeParse(name).error
  if (invalid !== undefined) return invalid.issues[0]?.message
  return REFUSED_HEADERS.test(name)
    ? 'may not be part of the answer; use the header that the provider reads, such as X-Hook-Secret'
    : undefined
}

// The setting

function kindOf<const Kind extends HandshakeKind, Fields extends z.ZodRawShape>(kind: Kind, fields: Fields) {
  return z.strictObject({ kind: z.literal(kind), ...fields })
}

const kindError = `The kind is one of ${HANDSHAKE_KINDS.join(', ')}.`
const meaning =
  'How a provider checks that you control the endpoint. `custom` (the kind may be left out): the question, its proof and the answer. The other kinds are names for such forms. ' +
  '`hub_challenge`: Postroad answers a GET with hub.mode, hub.verify_token and hub.challenge with ' +
  'the challenge. `url_verification`: Postroad answers a POST of {"type":"url_verification","challenge":…} with the challenge, after the signature check; ' +
  'if a verify token is set, `token` must equal it. The others have no verify token, and Postroad answers them after the signature check too. ' +
  '`sns_subscription`: Postroad confirms the subscription of an Amazon SNS topic by its SubscribeURL. `discord_ping`: the PING of interactions and of ' +
  'webhook events. `zoom_validation`: endpoint.url_validation, signed with the verification secret. `twitch_challenge`: webhook_callback_verification of EventSub.'

/** The kinds without a verify token. */
const TOKENLESS = [
  kindOf('none', {}),
  kindOf('sns_subscription', {}),
  kindOf('discord_ping', {}),
  kindOf('zoom_validation', {}),
  kindOf('twitch_challenge', {}),
] as const

const Custom = z.strictObject({ kind: z.literal('custom').default('custom'), ...FORM })
type CustomWithToken = z.infer<typeof Custom> & { readonly verify_token?: string | undefined }

const CustomCreate = Custom.extend({ verify_token: VerifyToken.optional() }).superRefine((sent, ctx) => {
  checkCustom(sent, ctx)
  if (verifyTokenNeed(sent) === 'required' && sent.verify_token === undefined)
    ctx.addIssue({ code: 'custom', path: ['verify_token'], message: 'is missing: this handshake compares or signs it' })
})
const CustomPatch = Custom.extend({ verify_token: VerifyToken.optional() }).superRefine(checkCustom)

function checkCustom(sent: CustomWithToken, ctx: z.RefinementCtx): void {
  checkForm(sent, ctx)
  if (sent.verify_token !== undefined && verifyTokenNeed(sent) === 'none')
    ctx.addIssue({
      code: 'custom',
      path: ['verify_token'],
      message: 'has no use here; set the proof to {"kind": "token"} with its place, or remove it',
    })
}

export const HandshakeCreate = z
  .discriminatedUnion(
    'kind',
    [
      ...TOKENLESS,
      kindOf('hub_challenge', { verify_token: VerifyToken }),
      kindOf('url_verification', { verify_token: VerifyToken.optional() }),
      CustomCreate,
    ],
    { error: kindError },
  )
  .describe(meaning)
export type HandshakeCreate = z.infer<typeof HandshakeCreate>

/** A change. If it leaves the verify token out, the stored one is retained while the kind stays the same. */
export const HandshakePatch = z
  .discriminatedUnion(
    'kind',
    [
      ...TOKENLESS,
      kindOf('hub_challenge', { verify_token: VerifyToken.optional() }),
      kindOf('url_verification', { verify_token: VerifyToken.optional() }),
      CustomPatch,
    ],
    { error: kindError },
  )
  .describe(meaning)
export type HandshakePatch = z.infer<typeof HandshakePatch>

/** The setting without its token, as in presets and in configurations. */
export const HandshakeSettings = z.discriminatedUnion(
  'kind',
  [
    ...TOKENLESS,
    kindOf('hub_challenge', {}),
    kindOf('url_verification', {}),
    Custom.superRefine((sent, ctx) => checkForm(sent, ctx)),
  ],
  { error: kindError },
)
export type HandshakeSettings = z.infer<typeof HandshakeSettings>

const INFORMATIONAL = {
  has_verify_token: z.boolean().optional().describe('Informational: the source has a verify token.'),
}

/** The setting in a configuration file. */
export const HandshakeEntry = z
  .discriminatedUnion(
    'kind',
    [
      kindOf('none', INFORMATIONAL),
      kindOf('hub_challenge', INFORMATIONAL),
      kindOf('url_verification', INFORMATIONAL),
      kindOf('sns_subscription', INFORMATIONAL),
      kindOf('discord_ping', INFORMATIONAL),
      kindOf('zoom_validation', INFORMATIONAL),
      kindOf('twitch_challenge', INFORMATIONAL),
      Custom.extend(INFORMATIONAL).superRefine((sent, ctx) => checkForm(sent, ctx)),
    ],
    { error: kindError },
  )
  .describe('Absent: none. The verify token is never part of it.')

export const Handshake = z.object({
  kind: z.enum(HANDSHAKE_KINDS),
  has_verify_token: z.boolean().optional().describe('Absent when the kind is none.'),
  when: When.optional().describe('The question. Only for the kind custom, as the two that follow.'),
  proof: Proof.optional(),
  answer: Answer.optional(),
})
export type Handshake = z.infer<typeof Handshake>
