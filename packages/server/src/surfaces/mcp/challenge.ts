import type { Refusal } from '../../domain/refusal.ts'

type Asked = {
  readonly baseUrl: string
  /** The request had a credential. */
  readonly sent: boolean
}

/**
 * The WWW-Authenticate header of a refusal that a new token can change; undefined for any other. After a 403 a client
 * asks its person for the scope that the call needs. The header names the scope of this call alone, because clients add
 * the scopes that they have.
 */
export function challengeOf(refusal: Refusal, { baseUrl, sent }: Asked): string | undefined {
  const metadata = { resource_metadata: `${baseUrl}/.well-known/oauth-protected-resource/mcp` }
  if (refusal.status === 401)
    return bearer({ ...(sent ? { error: 'invalid_token' } : {}), ...metadata, scope: 'service:read' })
  const { required_scope: scope, manage_url: page } = refusal.fields
  if (refusal.reason !== 'agent_scope_insufficient' || scope === undefined) return undefined
  // Clients that cannot ask their person show this text to the model.
  const description = `This needs ${scope}. Ask the user to widen the access of this agent at ${page ?? baseUrl}, then repeat the call.`
  return bearer({ error: 'insufficient_scope', scope, ...metadata, error_description: description })
}

function bearer(parameters: Readonly<Record<string, string>>): string {
  return `Bearer ${Object.entries(parameters)
    .map(([name, value]) => `${name}="${value}"`)
    .join(', ')}`
}
