import { generateKeyPairSync } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { aProvider } from './identity-provider.ts'

export const CLIENTS = {
  basic: { id: 'deliverer', secret: 'a secret: with +/% and spaces' },
  body: { id: 'poster', secret: 'another-secret-of-a-client' },
} as const

/** A real authorization server that issues access tokens for client credentials. */
export type TokenServer = {
  readonly tokenUrl: string
  /** The number of requests for a token. */
  readonly asked: () => number
  /** Whether this server issued a token, and the purpose of the token. */
  readonly knows: (token: string) => Promise<{ readonly scope: string | undefined } | undefined>
  /** Whether the server answers 503 to every request. */
  broken: boolean
  stop(): Promise<void>
}

export async function aTokenServer(lifeSeconds = 3_600): Promise<TokenServer> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const client = { redirect_uris: [], response_types: [], grant_types: ['client_credentials'] }
  const provider = aProvider(issuer, {
    clients: [
      {
        ...client,
        client_id: CLIENTS.basic.id,
        client_secret: CLIENTS.basic.secret,
        token_endpoint_auth_method: 'client_secret_basic',
      },
      {
        ...client,
        client_id: CLIENTS.body.id,
        client_secret: CLIENTS.body.secret,
        token_endpoint_auth_method: 'client_secret_post',
      },
    ],
    scopes: ['events'],
    features: { clientCredentials: { enabled: true }, devInteractions: { enabled: false } },
    ttl: { ClientCredentials: lifeSeconds },
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
  })
  let asked = 0
  const handle = provider.callback()
  const one: { broken: boolean } = { broken: false }
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (request.url === '/token') asked += 1
    if (one.broken) response.writeHead(503).end()
    else void handle(request, response)
  })
  return Object.assign(one, {
    tokenUrl: `${issuer}/token`,
    asked: () => asked,
    knows: async (token: string) => {
      const found = await provider.ClientCredentials.find(token)
      return found === undefined ? undefined : { scope: found.scope }
    },
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  })
}
