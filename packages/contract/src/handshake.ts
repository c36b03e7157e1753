import { z } from 'zod'
import {
  HANDSHAKE_FORM,
  HANDSHAKE_KINDS,
  HandshakeHeader,
  type HandshakeForm,
  type HandshakeKind,
} from './handshake-form.ts'
import { bodyPieces, handshakeConditions, placesOf, verifyTokenNeed } from './handshake-parts.ts'
import { handshakePieces } from './handshake-template.ts'
import { LIMITS } from './limits.ts'

/**
 * The handshake of an endpoint: the request by which a provider checks who controls it, and the answer. The kinds are names for
 * forms (`handshake-forms.ts`), and the kind custom takes a separate form.
 */

export const VerifyToken = z
  .string('Send a verify token: text that the sender repeats.')
  .min(1, 'The verify token may not be empty.')
  .max(LIMITS.verifyTokenCharsMax, `A verify token has at most ${LIMITS.verifyTokenCharsMax} characters.`)
  .describe('Write-only; never returned.')

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
  const invalid = HandshakeHeader.safeParse(name).error
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

const Custom = z.strictObject({ kind: z.literal('custom').default('custom'), ...HANDSHAKE_FORM })
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
  when: HANDSHAKE_FORM.when.optional().describe('The question. Only for the kind custom, as the two that follow.'),
  proof: HANDSHAKE_FORM.proof.unwrap().optional(),
  answer: HANDSHAKE_FORM.answer.optional(),
})
export type Handshake = z.infer<typeof Handshake>
