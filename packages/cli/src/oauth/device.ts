import { hostname } from 'node:os'
import { EXIT, Failure, Unavailable } from '../failure.ts'
import { complain } from '../io.ts'
import { grantedBy, sendForm, type OauthTokens } from './tokens.ts'

const GRANT = 'urn:ietf:params:oauth:grant-type:device_code'
const POLL_MS = 2_000
const NAME_CHARS_MAX = 60

export const ASKED = { read: 'service:read', write: 'service:write', manage: 'service:manage' } as const
export type Asked = keyof typeof ASKED

type Begun = {
  readonly device_code: string
  readonly user_code: string
  readonly verification_uri_complete: string
  readonly expires_in: number
  /** The number of seconds between two polls. */
  readonly interval?: number
}

/** Signs in with a code that a person confirms in a browser, on this machine or on another one. */
export async function signInByDevice(url: string, asked: Asked): Promise<OauthTokens> {
  const begun = await begin(url, asked)
  complain(`Open   ${begun.verification_uri_complete}\nCode   ${begun.user_code}\n\nWaiting until you allow it…`)
  const until = performance.now() + begun.expires_in * 1_000
  const pollMs = begun.interval === undefined ? POLL_MS : begun.interval * 1_000
  while (performance.now() < until) {
    // oxlint-disable-next-line no-await-in-loop -- one question after the other
    await new Promise((resolve) => void setTimeout(resolve, pollMs))
    // oxlint-disable-next-line no-await-in-loop -- one question after the other
    const answer = await ask(url, begun)
    if (answer === undefined) continue
    const { status, body } = answer
    if (status === 200) return grantedBy(body)
    const error = 'error' in body ? body.error : undefined
    if (error === 'access_denied') throw new Failure('You denied the request in the browser.', EXIT.refused)
    if (error === 'expired_token') break
    // Any other answer means that the request is pending, or that the server is busy for a moment.
    if (error !== 'authorization_pending' && status < 500 && status !== 429)
      throw new Failure(`${url} did not sign you in. Try again, or pass an API key with --key.`, EXIT.refused)
  }
  throw new Failure('The code expired before you confirmed it. Run the command again.', EXIT.refused)
}

/** Polls once. Returns undefined if the server did not respond, because it may be back before the code expires. */
async function ask(url: string, { device_code }: Begun): Promise<Awaited<ReturnType<typeof sendForm>> | undefined> {
  try {
    return await sendForm(url, 'token', { grant_type: GRANT, device_code })
  } catch (error) {
    if (error instanceof Unavailable) return undefined
    throw error
  }
}

async function begin(url: string, asked: Asked): Promise<Begun> {
  const { status, body } = await sendForm(url, 'device_authorization', {
    scope: ASKED[asked],
    device_name: hostname().slice(0, NAME_CHARS_MAX),
  })
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the answer of a Postroad server, with the member that counts
  if (status === 200 && 'user_code' in body) return body as Begun
  throw new Failure(`${url} did not respond like a Postroad server. Check the address.`)
}
