import { LIMITS } from '@postroad/contract'
import { z } from 'zod'
import type { Deps } from '../../context.ts'
import { basicCredentials, type OAuthClient } from '../../domain/delivery/destination-auth.ts'
import { secretPlace } from '../../resources/secret-place.ts'
import type { OutboundRequest, OutboundResult, Transport } from '../../platform/outbound-http.ts'
import { keepAccessToken } from '../../resources/delivery/destinations/queries.ts'

/** A destination that requests access tokens, built from its row. */
export type TokenClient = {
  readonly workspaceId: string
  readonly destinationId: string
  readonly client: OAuthClient & { readonly secret: string }
  /** `auth` as it is stored. A token is valid only for exactly these bytes. */
  readonly sealed: Buffer
  readonly kept: AccessToken | undefined
  readonly transport: Transport | undefined
}

/** Times in ms since 1970. */
export type AccessToken = { readonly token: string; readonly obtained_at: number; readonly expires_at: number }

/** `durationMs`: the part of the attempt's time that obtaining the token took. */
export type Obtained = { readonly durationMs: number } & (
  | { readonly token: string; readonly isNew: boolean }
  | { readonly error: string }
)

export type AccessTokens = {
  /** Returns a token that is valid now. `refused` is the token that the destination answered with 401. Never rejects. */
  obtain(
    of: TokenClient,
    asked: { readonly timeoutMs: number; readonly refused?: string | undefined },
  ): Promise<Obtained>
}

type Known = {
  readonly sealed: Buffer
  readonly token: AccessToken | undefined
  readonly failure: { readonly error: string; readonly until: number } | undefined
  asking: Promise<Obtained> | undefined
}

const TIMEOUT_MS_MAX = 10_000
/**
 * A token is renewed this long before it expires, so that it does not expire during a request. Short-lived tokens: a fifth of
 * their life.
 */
const MARGIN_MS = 60_000
const LIFE_MS_DEFAULT = 600_000
const LIFE_MS_MAX = 86_400_000
/** After a failure the endpoint is left alone for this long, however many deliveries wait. */
const FAILURE_KEPT_MS = 2_000
/** A destination that answers 401 to every token must not make us request a new token each time. */
const RENEWED_AFTER_401_MS = 30_000
const KNOWN_MAX = 10_000

const Answer = z.object({
  access_token: z
    .string()
    .min(1)
    .max(LIMITS.accessTokenCharsMax)
    .regex(/^[\x21-\x7e]+$/),
  token_type: z.string().regex(/^bearer$/i),
  expires_in: z.coerce.number().positive().optional().catch(undefined),
})
const ErrorAnswer = z.object({ error: z.string().regex(/^[\w.-]{1,64}$/) })

/**
 * Obtains access tokens with the client credentials grant of OAuth 2, one request per destination at a time. Only one process
 * serves a destination at a time, and its token is stored, sealed, in the destination's row, so the next process or the next
 * start continues with it.
 */
export function createAccessTokens(deps: Deps): AccessTokens {
  const known = new Map<string, Known>()

  function knownOf({ destinationId, sealed, kept }: TokenClient): Known {
    const held = known.get(destinationId)
    const current =
      held?.sealed.equals(sealed) === true ? held : { sealed, token: kept, failure: undefined, asking: undefined }
    known.delete(destinationId)
    known.set(destinationId, current)
    const [oldest] = known.keys()
    if (known.size > KNOWN_MAX && oldest !== undefined) known.delete(oldest)
    return current
  }

  async function renew(of: TokenClient, timeoutMs: number): Promise<Obtained> {
    const { destinationId, sealed, workspaceId } = of
    const result = await deps.outbound.request(tokenRequest(of, Math.min(timeoutMs, TIMEOUT_MS_MAX)))
    const now = deps.clock.wall()
    const read = readToken(result, now)
    const stored = (token: AccessToken | undefined, failure: Known['failure']): void => {
      if (known.get(destinationId)?.sealed.equals(sealed) === true)
        known.set(destinationId, { sealed, token, failure, asking: undefined })
    }
    if ('error' in read) {
      stored(known.get(destinationId)?.token, { error: read.error, until: now + FAILURE_KEPT_MS })
      return { error: read.error, durationMs: result.durationMs }
    }
    stored(read, undefined)
    const kept = deps.cipher.seal(JSON.stringify(read), secretPlace('destinations.access_token', destinationId))
    await keepAccessToken(deps.database.forWorkspace(workspaceId), {
      workspaceId,
      id: destinationId,
      auth: sealed,
      token: kept,
    }).catch((cause: unknown) => {
      deps.log.warn('access_token.not_kept', { cause })
    })
    return { token: read.token, isNew: true, durationMs: result.durationMs }
  }

  const obtainNew = (
    of: TokenClient,
    { current, timeoutMs, now }: { current: Known; timeoutMs: number; now: number },
  ): Promise<Obtained> => {
    const { failure } = current
    if (failure !== undefined && now < failure.until) return Promise.resolve({ error: failure.error, durationMs: 0 })
    current.asking ??= renew(of, timeoutMs)
    return current.asking
  }

  return {
    obtain: async (of, { timeoutMs, refused }) => {
      const current = knownOf(of)
      const now = deps.clock.wall()
      const held = goodFor(current.token, { now, refused })
      if (held !== undefined && now < renewAt(held)) return { token: held.token, isNew: false, durationMs: 0 }
      const obtained = await obtainNew(of, { current, timeoutMs, now })
      // A token that could not be renewed stays valid until it expires.
      return 'error' in obtained && held !== undefined
        ? { token: held.token, isNew: false, durationMs: obtained.durationMs }
        : obtained
    },
  }
}

function goodFor(
  token: AccessToken | undefined,
  { now, refused }: { now: number; refused: string | undefined },
): AccessToken | undefined {
  if (token === undefined || now >= token.expires_at) return undefined
  return token.token === refused && now >= token.obtained_at + RENEWED_AFTER_401_MS ? undefined : token
}

function renewAt({ obtained_at, expires_at }: AccessToken): number {
  return expires_at - Math.min(MARGIN_MS, (expires_at - obtained_at) / 5)
}

/** RFC 6749 §4.4. With `basic` the id and the secret are form-encoded first, as §2.3.1 requires. */
function tokenRequest({ client, destinationId, transport }: TokenClient, timeoutMs: number): OutboundRequest {
  const { client_auth, client_id, secret, scope, audience, token_url } = client
  const form = new URLSearchParams({ grant_type: 'client_credentials' })
  if (scope !== undefined && scope !== '') form.set('scope', scope)
  if (audience !== undefined && audience !== '') form.set('audience', audience)
  const headers: Record<string, string> = {
    'content-type': 'application/x-www-form-urlencoded',
    accept: 'application/json',
  }
  if (client_auth === 'basic') {
    headers['authorization'] = basicCredentials(formEncoded(client_id), formEncoded(secret))
  } else {
    form.set('client_id', client_id)
    form.set('client_secret', secret)
  }
  return { url: token_url, headers, body: form.toString(), timeoutMs, lane: `token ${destinationId}`, transport }
}

const formEncoded = (text: string): string => new URLSearchParams({ a: text }).toString().slice(2)

/** Returns the token, or a sentence that contains nothing from the endpoint except its error code. */
function readToken(result: OutboundResult, now: number): AccessToken | { readonly error: string } {
  if (result.kind === 'failure')
    return { error: `There is no access token: the token endpoint could not be reached (${result.code}).` }
  const body = jsonOf(result.body)
  if (result.status !== 200) {
    const { data } = ErrorAnswer.safeParse(body)
    return {
      error: `There is no access token: the token endpoint returned ${result.status}${data === undefined ? '' : ` (${data.error})`}.`,
    }
  }
  const { data } = Answer.safeParse(body)
  if (data === undefined)
    return { error: 'There is no access token: the token endpoint response contains no bearer token.' }
  const life = data.expires_in === undefined ? LIFE_MS_DEFAULT : Math.min(data.expires_in * 1_000, LIFE_MS_MAX)
  return { token: data.access_token, obtained_at: now, expires_at: now + life }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
