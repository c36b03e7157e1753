import { EXIT, Failure, Unavailable } from '../failure.ts'
import { http } from '../http.ts'
import { invokedAs } from '../options.ts'

/** The tokens of this command line on a server. The refresh token works once. */
export type OauthTokens = {
  readonly access_token: string
  readonly refresh_token: string
  /** RFC 3339. */
  readonly expires_at: string
}

const CLIENT = 'postroad-cli'
const ANSWER_MS = 30_000
/** A token that expires within this time is refreshed before its use. */
const SPARE_MS = 60_000

/** Sends a form to the OAuth server. */
export async function sendForm(
  url: string,
  path: string,
  members: Readonly<Record<string, string>>,
): Promise<{ readonly status: number; readonly body: object }> {
  let response: Response
  try {
    response = await http(`${url}/api/oauth/${path}`, {
      method: 'POST',
      body: new URLSearchParams({ client_id: CLIENT, ...members }),
      signal: AbortSignal.timeout(ANSWER_MS),
    })
  } catch (cause) {
    throw cause instanceof Failure ? cause : new Unavailable(`${new URL(url).origin} cannot be reached.`)
  }
  const body: unknown = await response.json().catch(() => ({}))
  return { status: response.status, body: typeof body === 'object' && body !== null ? body : {} }
}

export function grantedBy(body: object): OauthTokens {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each member can be missing
  const { access_token, refresh_token, expires_in } = body as Partial<Record<string, unknown>>
  if (typeof access_token !== 'string' || typeof refresh_token !== 'string' || typeof expires_in !== 'number')
    throw new Failure('The server did not respond like a Postroad server. Check the address.')
  return {
    access_token,
    refresh_token,
    expires_at: new Date(Date.now() + expires_in * 1_000).toISOString(),
  }
}

export const isFresh = ({ expires_at }: OauthTokens): boolean => Date.parse(expires_at) > Date.now() + SPARE_MS

/** New tokens for the old ones, whose refresh token is used up. */
export async function refreshed(url: string, { refresh_token }: OauthTokens): Promise<OauthTokens> {
  const { status, body } = await sendForm(url, 'token', { grant_type: 'refresh_token', refresh_token })
  if (status === 200) return grantedBy(body)
  if (status >= 500 || status === 429) throw new Unavailable(`${url} is too busy. Try again in a moment.`)
  throw new Failure(
    `This command line is no longer connected to ${url}. Run ${invokedAs()} login --url ${url}.`,
    EXIT.refused,
  )
}

/** Ends the connection on the server, unless it has ended already. */
export async function signOut(url: string, { refresh_token }: OauthTokens): Promise<void> {
  await sendForm(url, 'revoke', { token: refresh_token }).catch(() => undefined)
}
