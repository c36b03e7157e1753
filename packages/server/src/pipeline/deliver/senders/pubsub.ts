import { z } from 'zod'
import type { HeldAuth } from '../../../domain/delivery/destination-auth.ts'
import { serviceAccountKey } from '../../../domain/delivery/service-account.ts'
import { filledName } from '../../../platform/links/names.ts'
import { noId, type Answer, type Api } from './calls.ts'
import type { Prepared } from './types.ts'

/** The service that every token names, whatever the region of the endpoint is. */
const AUDIENCE = 'https://pubsub.googleapis.com/'
const TOKEN_SECONDS = 3_600
const TOKEN_USED_MS = 3_000_000
const TOKENS_MAX = 1_000

const Published = z.object({ messageIds: z.array(z.string().min(1)).length(1) })
const Failed = z.object({ error: z.object({ status: z.string(), message: z.string() }) })
const TOO_LARGE = /too large|exceeds the (?:maximum|limit)/i

type Token = { readonly value: string; readonly until: number }

/** The method projects.topics.publish of Google Pub/Sub. A service account signs its tokens itself, so there is no token endpoint. */
export function createPubsub(): Api {
  const tokens = new Map<string, Token>()
  const tokenFor = async ({ auth, version }: Prepared['target'], now: number): Promise<string | undefined> => {
    if (auth?.kind !== 'google') return undefined
    const known = tokens.get(version)
    if (known !== undefined && now < known.until) return known.value
    if (tokens.size >= TOKENS_MAX) tokens.clear()
    const value = await signedToken(auth, now)
    tokens.set(version, { value, until: now + TOKEN_USED_MS })
    return value
  }
  return {
    call: async (prepared, now) => {
      const { target } = prepared
      const { config } = target
      if (config.kind !== 'pubsub') throw new Error(`${config.kind} is not pubsub.`)
      const token = await tokenFor(target, now)
      return {
        url: `${new URL(target.url).origin}/v1/${config.topic}:publish`,
        headers: {
          'content-type': 'application/json',
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        },
        body: messageOf(prepared, config.ordering_key),
      }
    },
    read: ({ status, body }, { request }) => {
      const said: unknown = jsonIn(body)
      if (status < 200 || status >= 300) return failed(status, { said, bytes: Buffer.byteLength(request.body) })
      const published = Published.safeParse(said)
      return published.success ? { text: `Published as ${published.data.messageIds[0]}` } : noId('Pub/Sub')
    },
  }
}

async function signedToken(auth: HeldAuth & { readonly kind: 'google' }, now: number): Promise<string> {
  const key = serviceAccountKey(auth.secret)
  if (key === undefined) throw new Error('The key of the service account was checked when it was saved.')
  const { SignJWT } = await import('jose')
  const seconds = Math.floor(now / 1_000)
  return new SignJWT()
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT' })
    .setIssuer(auth.client_email)
    .setSubject(auth.client_email)
    .setAudience(AUDIENCE)
    .setIssuedAt(seconds)
    .setExpirationTime(seconds + TOKEN_SECONDS)
    .sign(key)
}

function messageOf({ event, request }: Prepared, orderingKey: string | null): string {
  return JSON.stringify({
    messages: [
      {
        data: Buffer.from(request.body).toString('base64'),
        attributes: request.headers,
        ...(orderingKey === null ? {} : { orderingKey: filledName(orderingKey, event) }),
      },
    ],
  })
}

function failed(status: number, { said, bytes }: { readonly said: unknown; readonly bytes: number }): Answer {
  const read = Failed.safeParse(said)
  const text = read.success
    ? `It says: ${read.data.error.status}: ${read.data.error.message}`
    : `It answered ${status}.`
  if (status === 413 || (status === 400 && TOO_LARGE.test(text)))
    return {
      code: 'event_too_large',
      detail: `The event has ${bytes} bytes, which is more than Pub/Sub accepts. Postroad does not retry it. ${text}`,
      isPermanent: true,
    }
  if (status === 401 || status === 403)
    return {
      code: 'auth_failed',
      detail: `Pub/Sub does not accept the credentials. Check auth, and whether this account has permission to publish. ${text}`,
    }
  if (status === 429 || status >= 500) return undefined
  return { code: 'refused', detail: `Pub/Sub refused the event. ${text}` }
}

function jsonIn(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}
