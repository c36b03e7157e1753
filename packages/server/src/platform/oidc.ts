import type { Configuration } from 'openid-client'
import type { Secret } from './secret.ts'

/** The data that is needed when the person returns from the provider. */
export type OidcBegun = { readonly state: string; readonly nonce: string; readonly code_verifier: string }

/**
 * The person as the provider describes them. An email address is left out if the provider does not call it verified, or if it
 * is not ASCII.
 */
export type OidcPerson = {
  readonly issuer: string
  readonly subject: string
  readonly email: string | undefined
  readonly name: string | undefined
}

/** Sign-in by one OpenID Connect provider: authorization code with PKCE, state and nonce. */
export type Oidc = {
  /** The host of the provider, to show on a button. */
  readonly name: string
  begin(redirectUri: string): Promise<{ readonly url: string; readonly begun: OidcBegun }>
  /** `returned` is our redirect URI with the provider's parameters. Rejects with the error. */
  finish(returned: URL, begun: OidcBegun): Promise<OidcPerson>
}

/** Letters that look alike, or that become alike in lower case, must not lead to another person's account. */
const PLAIN = /^[\x21-\x7e]+@[a-z0-9.-]+$/i

/** Loaded with the first sign-in by a provider: most installations have none. */
const client = () => import('openid-client')

const TIMEOUT_SECONDS = 10
const KNOWN_MS = 3_600_000

export function createOidc(of: {
  issuer: string
  clientId: string
  clientSecret: Secret | undefined
  now: () => number
}): Oidc {
  const issuer = new URL(of.issuer)
  let known: { readonly configuration: Promise<Configuration>; readonly until: number } | undefined
  /** The configuration is read again after an hour, and after a failure. */
  const configured = (): Promise<Configuration> => {
    const now = of.now()
    if (known !== undefined && known.until > now) return known.configuration
    const configuration = discover(issuer, of)
    const asked = { configuration, until: now + KNOWN_MS }
    known = asked
    configuration.catch(() => {
      if (known === asked) known = undefined
    })
    return configuration
  }
  return {
    name: issuer.host,
    begin: async (redirectUri) => {
      const { buildAuthorizationUrl, calculatePKCECodeChallenge, ...random } = await client()
      const configuration = await configured()
      const begun = {
        state: random.randomState(),
        nonce: random.randomNonce(),
        code_verifier: random.randomPKCECodeVerifier(),
      }
      const url = buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope: 'openid email profile',
        response_type: 'code',
        state: begun.state,
        nonce: begun.nonce,
        code_challenge: await calculatePKCECodeChallenge(begun.code_verifier),
        code_challenge_method: 'S256',
      })
      return { url: url.href, begun }
    },
    finish: async (returned, begun) => {
      const { authorizationCodeGrant, fetchUserInfo } = await client()
      const configuration = await configured()
      const tokens = await authorizationCodeGrant(configuration, returned, {
        expectedState: begun.state,
        expectedNonce: begun.nonce,
        pkceCodeVerifier: begun.code_verifier,
        idTokenExpected: true,
      })
      const claims = tokens.claims()
      if (claims === undefined) throw new Error('The provider sent no ID token.')
      // Many providers return the data of the person only at the userinfo endpoint.
      const asked = claims['email'] === undefined && configuration.serverMetadata().userinfo_endpoint !== undefined
      const facts = asked ? await fetchUserInfo(configuration, tokens.access_token, claims.sub) : claims
      const { email, email_verified: verified, name } = facts
      return {
        issuer: claims.iss,
        subject: claims.sub,
        email: verified === true && typeof email === 'string' && PLAIN.test(email) ? email : undefined,
        name: typeof name === 'string' && name.trim() !== '' ? name.trim() : undefined,
      }
    },
  }
}

async function discover(
  issuer: URL,
  of: { clientId: string; clientSecret: Secret | undefined },
): Promise<Configuration> {
  const { allowInsecureRequests, discovery, enableNonRepudiationChecks } = await client()
  const configuration = await discovery(issuer, of.clientId, of.clientSecret?.reveal(), undefined, {
    timeout: TIMEOUT_SECONDS,
    // Only loopback may be reached without TLS; config.ts enforces that.
    ...(issuer.protocol === 'http:' ? { execute: [allowInsecureRequests] } : {}),
  })
  enableNonRepudiationChecks(configuration)
  return configuration
}
