import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Provider } from 'oidc-provider'
import { refuse } from '../../domain/refusal.ts'
import { connectAgent } from '../../resources/people/connected-agents/index.ts'
import { askedScope } from './asked-scope.ts'
import { asNodeRequest } from './bridge.ts'
import { hostOf, redirectTo, type Redirect } from './clients.ts'
import { choicesOf, Decision, readBody, type Person } from './decision.ts'
import { accountOf } from './provider.ts'

type Asking = {
  readonly provider: Provider
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly baseUrl: string
}
type Asked = {
  readonly client: { readonly id: string; readonly name: string; readonly host: string | null }
  readonly redirect: Redirect
  readonly scope: string | undefined
}

/** The content of the consent page: who asks, where the browser returns, and the choices of the person. */
export async function showConsent(asking: Asking, person: Person) {
  const { client, redirect, scope } = await openRequest(asking)
  return {
    client: { name: client.name, host: client.host },
    redirect,
    asked_scope: askedScope(scope),
    ...(await choicesOf(person, client.id)),
  }
}

/** Stores the decision, and returns the address where the browser continues. */
export async function decideConsent(asking: Asking, person: Person): Promise<{ readonly next: string }> {
  const decision = readBody(Decision, asking.request.body)
  const { client, redirect } = await openRequest(asking)
  const { provider, reply } = asking
  const node = asNodeRequest(asking, asking.request)
  if (decision.decision === 'deny') {
    const refused = { error: 'access_denied', error_description: 'the person refused' }
    return { next: await provider.interactionResult(node, reply.raw, refused) }
  }
  const { userId } = person.actor
  const grantId = await connectAgent(person, {
    userId,
    workspaceId: decision.workspace_id,
    scope: decision.scope,
    client,
    redirectHost: redirect.host,
  })
  const result = { login: { accountId: accountOf(userId), remember: false }, consent: { grantId } }
  return { next: await provider.interactionResult(node, reply.raw, result) }
}

/**
 * The request that this browser has started and that nobody has decided yet. The library compares the cookie that it
 * set then, so a link to the consent page of another person leads nowhere.
 */
async function openRequest({ provider, request, reply, baseUrl }: Asking): Promise<Asked> {
  const interaction = await provider
    .interactionDetails(asNodeRequest({ baseUrl }, request), reply.raw)
    .catch((error: unknown) => {
      if (isOfLibrary(error)) return undefined
      throw error
    })
  const { uid } = paramsOf(request)
  if (interaction === undefined || interaction.uid !== uid || interaction.result !== undefined)
    throw refuse('consent_over')
  const { client_id: id, redirect_uri: uri, asked_scope: scope } = interaction.params
  const client = typeof id === 'string' ? await clientOf(provider, id) : undefined
  if (client === undefined || typeof uri !== 'string') throw refuse('oauth_client_unknown')
  return {
    client: { id: client.clientId, name: client.clientName ?? '', host: hostOf(client.clientId) },
    redirect: redirectTo(uri),
    scope: typeof scope === 'string' ? scope : undefined,
  }
}

async function clientOf(provider: Provider, id: string) {
  try {
    return await provider.Client.find(id)
  } catch (error) {
    // The errors of the library are about the document of the client.
    if (isOfLibrary(error)) throw refuse('oauth_client_unknown', UNREADABLE)
    throw error
  }
}

/** An error of the protocol. Any other one is a fault of the server, or of its database. */
const isOfLibrary = (error: unknown): boolean => error instanceof Error && 'error_description' in error

const UNREADABLE =
  'The document that describes this program cannot be read now. Try again in a moment, or start again in the program.'

function paramsOf({ params }: FastifyRequest): { readonly uid: string | undefined } {
  const uid = typeof params === 'object' && params !== null && 'uid' in params ? params.uid : undefined
  return { uid: typeof uid === 'string' ? uid : undefined }
}
