import { generateKeyPairSync } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mock } from 'node:test'
import { Provider, type Configuration } from 'oidc-provider'
import { Browser } from './browser.ts'

export const CLIENT_ID = 'postroad'
export const CLIENT_SECRET = 'the-secret-of-this-client'

export type Claims = {
  readonly sub: string
  readonly email?: string
  readonly email_verified?: boolean
  readonly name?: string
}

/** A real OpenID Connect provider on a free port that signs every person in without a question. */
export type IdentityProvider = {
  readonly issuer: string
  /** The person at the browser from now on. */
  person: Claims
  /** Registers a redirect URI. */
  allow(redirectUri: string): void
  /**
   * Follows the browser through the provider, from the address of our redirect up to the address that the provider
   * redirects to.
   */
  visit(url: string): Promise<URL>
  stop(): Promise<void>
}

/**
 * Suppresses the provider's advice for production about storage in memory, which does not concern readers of the test
 * output.
 */
export function aProvider(issuer: string, configuration: Configuration): Provider {
  const quiet = mock.method(console, 'warn', () => undefined)
  try {
    return new Provider(issuer, configuration)
  } finally {
    quiet.mock.restore()
  }
}

export async function anIdentityProvider(): Promise<IdentityProvider> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const redirectUris: string[] = []
  const one: { person: Claims } = { person: { sub: 'somebody' } }
  const provider = aProvider(issuer, {
    clients: [
      {
        client_id: CLIENT_ID,
        client_secret: CLIENT_SECRET,
        redirect_uris: ['http://127.0.0.1/placeholder'],
        token_endpoint_auth_method: 'client_secret_post',
      },
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    findAccount: (_context, sub) => ({ accountId: sub, claims: () => ({ ...one.person, sub }) }),
    interactions: { url: (_context, interaction) => `/interaction/${interaction.uid}` },
    features: { devInteractions: { enabled: false } },
    jwks: {
      keys: [
        {
          ...generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' }),
          use: 'sig',
          alg: 'RS256',
          kid: 'one',
        },
      ],
    },
    ttl: { Interaction: 600, Grant: 600, Session: 600, AccessToken: 600, IdToken: 600 },
    cookies: { keys: ['a key for the cookies of the provider'] },
  })
  // The port of our server is known only once it listens, after its settings have named this provider.
  provider.Client.prototype.redirectUriAllowed = (uri: string) => redirectUris.includes(uri)
  const finish = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { sub } = one.person
    const grant = new provider.Grant({ accountId: sub, clientId: CLIENT_ID })
    grant.addOIDCScope('openid email profile')
    await provider.interactionFinished(request, response, {
      login: { accountId: sub },
      consent: { grantId: await grant.save() },
    })
  }
  const handle = provider.callback()
  server.on(
    'request',
    (request: IncomingMessage, response: ServerResponse) =>
      void (request.url?.startsWith('/interaction/') === true ? finish(request, response) : handle(request, response)),
  )
  return Object.assign(one, {
    issuer,
    allow: (uri: string) => void redirectUris.push(uri),
    visit: async (url: string) => {
      const browser = new Browser(issuer)
      let at = new URL(url)
      while (at.origin === issuer) {
        const { headers, text } = await browser.call(`GET ${at.pathname}${at.search}`, undefined, {
          accept: 'text/html',
        })
        const location = headers.get('location')
        if (location === null) throw new Error(`The provider did not redirect: ${text.slice(0, 500)}`)
        at = new URL(location, issuer)
      }
      return at
    },
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  })
}

/** Settings with which a server signs people in by this provider. */
export function settingsFor(provider: IdentityProvider): Record<string, string> {
  return { OIDC_ISSUER: provider.issuer, OIDC_CLIENT_ID: CLIENT_ID, OIDC_CLIENT_SECRET: CLIENT_SECRET }
}

/** The browser goes from the server to the provider and back; returns the last answer of the server. */
export async function signInThere(
  provider: IdentityProvider,
  browser: Browser,
  of: { baseUrl: string; claims: Claims; next?: string; accept?: string },
) {
  provider.person = of.claims
  provider.allow(`${of.baseUrl}/admin/api/session/oidc/callback`)
  const begun = await browser.call(
    `GET session/oidc${of.next === undefined ? '' : `?next=${encodeURIComponent(of.next)}`}`,
  )
  if (begun.status !== 303) return begun
  const back = await provider.visit(begun.headers.get('location') ?? '')
  return browser.call(
    `GET ${back.pathname}${back.search}`,
    undefined,
    of.accept === undefined ? {} : { accept: of.accept },
  )
}
