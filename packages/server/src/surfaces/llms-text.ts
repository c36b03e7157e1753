import type { FastifyInstance } from 'fastify'
import type { Deps } from '../context.ts'
import { DbError } from '../platform/db.ts'
import { isRegistrationOpen } from '../resources/people/agent-accounts/index.ts'

type Page = { readonly url: string; readonly name: string }

/** `/llms.txt`: where an agent that visits this server finds what it needs. */
export function mountLlmsText(
  fastify: FastifyInstance,
  { deps, pages }: { readonly deps: Deps; readonly pages: readonly Page[] },
): void {
  const isOpen = registrationState(deps)
  fastify.get('/llms.txt', async (_request, reply) =>
    reply
      .type('text/plain; charset=utf-8')
      .header('Cache-Control', 'public, max-age=300')
      .send(textOf(deps.baseUrl(), { pages, open: await isOpen() })),
  )
}

/**
 * Whether agents may register, from one read for all requests of a moment. While the database is away, the last known
 * state serves; before the first read it is open, because the registration itself then reports the reason.
 */
function registrationState(deps: Deps): () => Promise<boolean> {
  let known = true
  let reading: Promise<boolean> | undefined
  const read = async (): Promise<boolean> => {
    try {
      known = await isRegistrationOpen(deps)
    } catch (error) {
      if (!(error instanceof DbError && error.unavailable)) throw error
    } finally {
      reading = undefined
    }
    return known
  }
  return () => (reading ??= read())
}

function textOf(base: string, { pages, open }: { readonly pages: readonly Page[]; readonly open: boolean }): string {
  return `# Postroad

> Postroad receives webhooks, files them as events, routes them by rules, and delivers them signed and retried.

An agent uses this server by MCP at ${base}/mcp, by the HTTP API at ${base}/admin/api, or by the command line \`postroad\`.

- With a person at a browser: an MCP client needs only the URL ${base}/mcp, and connects by OAuth. \`postroad login --url ${base}\` connects the command line.
- With a key: ask the person that you work for to create an admin API key in the console at ${base}/, and send it as "Authorization: Bearer hk_…".
- Without a person: ${open ? 'register an account, as follows.' : 'not on this server, because its operator has turned agent registration off.'}
${open ? registrationAt(base) : ''}
## Documentation

${pages.map(({ url, name }) => `- [${name}](${base}${url})`).join('\n')}
- [OpenAPI 3.1](${base}/openapi.json)
`
}

function registrationAt(base: string): string {
  return `
## Register

An agent without a person registers an account for itself:

1. GET ${base}/v1/agents/register/challenge. Read the Terms at terms_url, if it is not null.
2. Find a counter from 0 upwards for which PBKDF2-HMAC-SHA256(password = bytes of nonce, then the counter as 4 bytes big-endian; salt = bytes of salt;
   iterations = cost; 32 bytes), in hexadecimal, starts with keyPrefix.
3. POST ${base}/v1/agents/register as JSON: {"agent_name": "…", "operator_contact": "…", "accept_terms": terms_version, "challenge":
   {"parameters": …, "signature": …}, "solution": {"counter": …, "derivedKey": "…"}}. Send parameters and signature unchanged.
4. Store \`key\` of the answer: it is shown once. Give claim.url to the person that you work for, who becomes the owner of the workspace.

\`postroad agent register\` does all of that.
`
}
