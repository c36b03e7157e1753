import { ServiceError } from '@postroad/sdk/service-error'
import { tokenFromPage, type PageAround } from './page-around.ts'
import type { Me, Server } from './server.ts'

/** The reasons why the page shows no data; each has its own sentence. */
export type End = 'no_link' | 'expired' | 'off' | 'other_customer' | 'closed' | 'unknown_portal' | 'left'

export type Session =
  | { readonly at: 'entering' }
  | { readonly at: 'in'; readonly me: Me }
  | { readonly at: 'ended'; readonly end: End }
  | { readonly at: 'failed'; readonly error: Error }

export type Entry = {
  readonly server: Server
  /** The token of the address, which the first script of the page has removed from there. */
  readonly token: string | undefined
  readonly around: PageAround
}

/**
 * Enters the portal. A token always opens a new session, because the cookie can be that of the previous person at this
 * browser. For the same reason, the portal first asks the page around its frame for a token.
 */
export async function enter({ server, token, around }: Entry): Promise<Session> {
  const given = token ?? (await tokenFromPage(around))
  try {
    return { at: 'in', me: given === undefined ? await server.me() : await server.enter(given) }
  } catch (error) {
    return endOf(error, given === undefined ? 'no_link' : 'expired')
  }
}

/** The session after a refused request; undefined when the refusal does not end it. */
export function ended(error: unknown): Session | undefined {
  const session = endOf(error, 'expired')
  return session.at === 'ended' ? session : undefined
}

const ENDS: Readonly<Record<string, End>> = {
  portal_token_expired: 'expired',
  portal_disabled: 'off',
  portal_customer_mismatch: 'other_customer',
  workspace_closed: 'closed',
}

function endOf(error: unknown, without: End): Session {
  const said = error instanceof ServiceError ? error : undefined
  const end = ENDS[said?.reason ?? ''] ?? (said?.status === 401 ? without : undefined)
  if (end !== undefined) return { at: 'ended', end }
  return { at: 'failed', error: error instanceof Error ? error : new Error(String(error)) }
}
