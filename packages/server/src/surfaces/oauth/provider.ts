import { encodeId, LIMITS, SCOPES } from '@postroad/contract'
import type { Configuration, KoaContextWithOIDC, Provider } from 'oidc-provider'
import type { Deps } from '../../context.ts'
import { audienceOf } from '../../resources/people/connected-agents/index.ts'
import { adapterFor } from './adapter.ts'
import { OWN_CLIENTS } from './clients.ts'
import { createFetch } from './documents.ts'
import { errorPage } from './error-page.ts'
import { PATHS } from './paths.ts'
import { requestOf } from './request-of.ts'

export type ProviderParts = {
  readonly deps: Deps
  /** Whether the server may fetch the document of this client now. */
  readonly mayFetch: (clientId: string) => Promise<boolean>
}

/** All scopes. The scope of the grant limits a token, so every request asks for all of them. */
export const WHOLE_LADDER = SCOPES.join(' ')

const seconds = (ms: number): number => ms / 1_000

/**
 * The library that speaks OAuth, for one issuer and the current keys. It decides nothing about access: each authorization waits for the
 * consent page, and a grant is the row of a connected agent.
 */
export async function createProvider(parts: ProviderParts): Promise<Provider> {
  const { Provider: Made, errors, interactionPolicy } = await import('oidc-provider')
  const { Prompt, Check } = interactionPolicy
  const { deps } = parts
  const provider = new Made(deps.baseUrl(), {
    ...(await configurationOf(parts)),
    adapter: (kind) => adapterFor({ deps, usedBefore: () => new errors.InvalidGrant('it was already used') }, kind),
    interactions: {
      url: (_context, { uid }) => `${PATHS.consent}/${uid}`,
      policy: [
        new Prompt(
          { name: 'consent', requestable: true },
          new Check('undecided', 'a person must decide', (context) => context.oidc.result?.consent === undefined),
        ),
      ],
    },
  })
  provider.proxy = true
  provider.on('server_error', (_context, cause) => {
    deps.log.error('oauth_request.failed', { request_id: requestOf.getStore()?.id, cause })
  })
  return provider
}

const LIFETIMES = {
  AccessToken: seconds(LIMITS.accessTokenMs),
  AuthorizationCode: seconds(LIMITS.authorizationCodeMs),
  DeviceCode: seconds(LIMITS.consentMs),
  Grant: seconds(LIMITS.refreshTokenMs),
  IdToken: seconds(LIMITS.accessTokenMs),
  Interaction: seconds(LIMITS.consentMs),
  RefreshToken: seconds(LIMITS.refreshTokenMs),
  Session: seconds(LIMITS.consentMs),
}

async function configurationOf({ deps, mayFetch }: ProviderParts): Promise<Configuration> {
  const audience = audienceOf(deps)
  const signed = { signed: true, httpOnly: true, sameSite: 'lax' } as const
  return {
    allowOmittingSingleRegisteredRedirectUri: false,
    clients: [...OWN_CLIENTS],
    clientAuthMethods: ['none'],
    clientDefaults: { id_token_signed_response_alg: 'EdDSA' },
    clientBasedCORS: (_context, origin) => isOwnOrigin(origin, deps),
    cookies: {
      keys: deps.cipher.subkeys('oauth cookies').map(({ key }) => Buffer.from(key).toString('base64')),
      names: { interaction: 'service_oauth', resume: 'service_oauth_resume', session: 'service_oauth_session' },
      short: signed,
      long: signed,
    },
    enabledJWA: { idTokenSigningAlgValues: ['EdDSA'] },
    expiresWithSession: async () => false,
    extraParams: ['asked_scope', 'device_name'],
    extraTokenClaims: (_context, token) => ('grantId' in token ? { grant: token.grantId } : {}),
    features: {
      devInteractions: { enabled: false },
      userinfo: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      dPoP: { enabled: false },
      revocation: {
        enabled: true,
        allowedPolicy: (_context, client, token) => token.clientId === client.clientId,
      },
      deviceFlow: {
        enabled: true,
        charset: 'base-20',
        mask: '****-****',
        deviceInfo: (context) => ({ ip: requestOf.getStore()?.ip ?? null, userAgent: context.get('user-agent') }),
      },
      registration: { enabled: true, issueRegistrationAccessToken: false, idFactory: () => deps.randomText(32) },
      clientIdMetadataDocument: { enabled: true, ack: 'draft-02', allowFetch: (_context, id) => mayFetch(id) },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => audience,
        useGrantedResource: () => true,
        getResourceServerInfo: async (_context, resource) => {
          if (resource !== audience) throw await wrongTarget(audience)
          return {
            scope: WHOLE_LADDER,
            audience,
            accessTokenFormat: 'jwt',
            accessTokenTTL: seconds(LIMITS.accessTokenMs),
            jwt: { sign: { alg: 'EdDSA' } },
          }
        },
      },
    },
    fetch: createFetch(deps),
    findAccount: (_context, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
    formats: {
      customizers: {
        // The library reads the clock of this machine. Every node uses the clock of the database.
        jwt: (_context, _token, jwt) => {
          const now = Math.floor(deps.clock.now() / 1_000)
          Object.assign(jwt.payload, { iat: now, exp: now + seconds(LIMITS.accessTokenMs) })
        },
      },
    },
    issueRefreshToken: async (_context, client) => client.grantTypeAllowed('refresh_token'),
    jwks: { keys: [...deps.accessTokens.privateKeys()] },
    loadExistingGrant: (context) => grantIn(context),
    pkce: { required: () => true },
    renderError: (context, out) => {
      errorPage(context, out)
    },
    responseTypes: ['code'],
    rotateRefreshToken: true,
    routes: {
      authorization: PATHS.authorization,
      token: PATHS.token,
      revocation: PATHS.revocation,
      registration: PATHS.registration,
      jwks: PATHS.jwks,
      device_authorization: PATHS.device_authorization,
      code_verification: PATHS.code_verification,
    },
    scopes: [],
    ttl: LIFETIMES,
  }
}

async function wrongTarget(audience: string): Promise<Error> {
  const { errors } = await import('oidc-provider')
  return new errors.InvalidTarget(`the only resource here is ${audience}`)
}

/** The grant that the consent page has made for this request. No earlier grant answers it. */
async function grantIn({ oidc }: KoaContextWithOIDC) {
  const grantId = oidc.result?.consent?.grantId
  return grantId === undefined ? undefined : oidc.provider.Grant.find(grantId)
}

/** Web pages may be clients if they are of this server or of the person's own machine, as at /mcp. */
export function isOwnOrigin(origin: string, { baseUrl }: Pick<Deps, 'baseUrl'>): boolean {
  if (origin === new URL(baseUrl()).origin) return true
  return URL.canParse(origin) && ['localhost', '127.0.0.1', '[::1]'].includes(new URL(origin).hostname)
}

/** A person as tokens name them. */
export const accountOf = (userId: string): string => encodeId('user', userId)
