import { Postroad, refusalIn, type Client } from '@postroad/sdk'

/** A change made with the session cookie needs a header that no foreign page can send. */
const send: typeof fetch = (input, init = {}) => {
  const headers = new Headers(init.headers)
  headers.set('X-Requested-With', 'console')
  return fetch(input, { ...init, headers, credentials: 'same-origin' })
}

/** A separate client that can parse answers differently. */
export function newClient(projectId: string | undefined, parseJson?: (text: string) => unknown): Client {
  return new Postroad({
    url: location.origin,
    fetch: send,
    ...(projectId === undefined ? {} : { project: projectId }),
    ...(parseJson === undefined ? {} : { parseJson }),
  })
}

const clients = new Map<string, Client>()

/** The typed client of a project, or of the workspace when no project is named. */
export function clientOf(projectId?: string): Client {
  const known = clients.get(projectId ?? '')
  if (known !== undefined) return known
  const client = newClient(projectId)
  clients.set(projectId ?? '', client)
  return client
}

/** Calls a sign-in route, which the client lacks because it uses only the cookie. Throws the server's refusal. */
export async function callSession(method: 'POST' | 'DELETE', body?: object): Promise<void> {
  const response = await send('/admin/api/session', {
    method,
    ...(body === undefined ? {} : { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }),
  })
  if (!response.ok) throw await refusalIn(response)
}

/** Sends an event to an endpoint as any sender does. Returns the id of the submission, or throws the answer that the sender got. */
export async function sendEvent(
  publicPath: string,
  { body, headers }: { readonly body: string; readonly headers: Readonly<Record<string, string>> },
): Promise<string> {
  const sent = new Headers({ Prefer: 'return=representation', ...headers })
  if (!sent.has('Content-Type')) sent.set('Content-Type', 'application/json')
  const response = await fetch(publicPath, {
    method: 'POST',
    headers: sent,
    body,
    credentials: 'omit',
  })
  if (!response.ok) throw await refusalIn(response)
  const answer: unknown = await response.json()
  return typeof answer === 'object' && answer !== null && 'id' in answer ? String(answer.id) : ''
}
