import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { encodeId, type Scope } from '@postroad/contract'
import { randomText } from '../../src/platform/ids.ts'
import { Browser } from './browser.ts'
import { behind, signedIn } from './fixtures.ts'
import type { Answer, World } from './harness.ts'
import type { Headers, Member } from './people.ts'

/** A client of the OAuth server, a browser with a person, and the steps between them. */

export const REDIRECT = 'http://127.0.0.1:33418/callback'
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

/** A browser in which this person is signed in. */
export async function aBrowserOf(world: World, member: Member): Promise<Browser> {
  const browser = new Browser(world.baseUrl)
  const { cookie = '' } = await signedIn(world, member)
  const at = cookie.indexOf('=')
  browser.cookies.set(cookie.slice(0, at), cookie.slice(at + 1))
  return browser
}

async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
}

export async function register(world: World, members: Record<string, unknown> = {}): Promise<Answer> {
  return answerOf(
    await fetch(`${world.baseUrl}/api/oauth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ client_name: 'Test client', redirect_uris: [REDIRECT], ...members }),
    }),
  )
}

/** The id of a new client that has registered itself. */
export async function aClient(world: World, members: Record<string, unknown> = {}): Promise<string> {
  const { status, body } = await register(world, members)
  if (status === 429) {
    await forgetRates(world)
    return aClient(world, members)
  }
  assert.equal(status, 201, JSON.stringify(body))
  return body.client_id
}

/** Empties the buckets, because all clients of a test come from one address. */
export async function forgetRates(world: World): Promise<void> {
  const database = behind(world)
  try {
    await database.run({ strings: ['delete from throttles'], values: [] })
  } finally {
    await database.close()
  }
}

export type Pkce = { readonly verifier: string; readonly challenge: string }
export function aPkce(): Pkce {
  const verifier = randomText(64)
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') }
}

type Asking = {
  readonly client: string
  readonly pkce?: Pkce
  readonly members?: Readonly<Record<string, string | undefined>>
}

/** The address of an authorization request. A member that is undefined is left out. */
export function authorizeUrl(world: World, { client, pkce = aPkce(), members = {} }: Asking): string {
  const all = {
    response_type: 'code',
    client_id: client,
    redirect_uri: REDIRECT,
    code_challenge: pkce.challenge,
    code_challenge_method: 'S256',
    scope: 'service:read',
    state: 'a state',
    resource: `${world.baseUrl}/mcp`,
    ...members,
  }
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(all)) if (value !== undefined) query.set(name, value)
  return `/api/oauth/authorize?${query.toString()}`
}

/** Starts an authorization; returns the path of the consent page. */
export async function asksFor(browser: Browser, url: string): Promise<string> {
  const answer = await browser.call(`GET ${url}`)
  assert.equal(answer.status, 303, answer.text)
  const location = answer.headers.get('location') ?? ''
  assert.match(location, /^\/api\/oauth\/consent\/[\w-]+$/)
  return location
}

export type Choice = { readonly scope: Scope; readonly workspaceId: string }

/** Presses Allow; returns the address at the client, with its parameters. */
export async function allows(browser: Browser, page: string, { scope, workspaceId }: Choice): Promise<URL> {
  const decided = await browser.call(`POST ${page}/request`, {
    decision: 'allow',
    scope,
    workspace_id: encodeId('workspace', workspaceId),
  })
  assert.equal(decided.status, 200, decided.text)
  return goesOn(browser, decided.body.next)
}

export async function goesOn(browser: Browser, next: string): Promise<URL> {
  const { pathname, search } = new URL(next)
  const back = await browser.call(`GET ${pathname}${search}`)
  assert.equal(back.status, 303, back.text)
  return new URL(back.headers.get('location') ?? '')
}

/** A request to the token endpoint, or to another one that accepts a form. */
export async function sendForm(
  world: Pick<World, 'baseUrl'>,
  path: string,
  members: Readonly<Record<string, string | undefined>>,
): Promise<Answer> {
  const body = new URLSearchParams()
  for (const [name, value] of Object.entries(members)) if (value !== undefined) body.set(name, value)
  return answerOf(await fetch(`${world.baseUrl}/api/oauth/${path}`, { method: 'POST', headers: FORM, body }))
}

export type Tokens = { readonly access_token: string; readonly refresh_token: string; readonly scope: string }

export function redeem(
  world: World,
  {
    client,
    code,
    pkce,
    members = {},
  }: { client: string; code: string; pkce: Pkce; members?: Readonly<Record<string, string | undefined>> },
): Promise<Answer> {
  return sendForm(world, 'token', {
    grant_type: 'authorization_code',
    client_id: client,
    code,
    redirect_uri: REDIRECT,
    code_verifier: pkce.verifier,
    ...members,
  })
}

export function refresh(world: World, { client, token }: { client: string; token: string }): Promise<Answer> {
  return sendForm(world, 'token', { grant_type: 'refresh_token', client_id: client, refresh_token: token })
}

export type Connected = {
  readonly client: string
  readonly tokens: Tokens
  readonly headers: Headers
  /** The id of the agent, as the API names it. */
  readonly agent: string
}

/** An agent that this member has connected with this scope, by the whole flow. */
export async function aConnectedAgent(
  world: World,
  { member, scope, client }: { member: Member; scope: Scope; client?: string },
): Promise<Connected> {
  const browser = await aBrowserOf(world, member)
  const id = client ?? (await aClient(world))
  const pkce = aPkce()
  const page = await asksFor(browser, authorizeUrl(world, { client: id, pkce }))
  const back = await allows(browser, page, { scope, workspaceId: member.workspaceId })
  const code = back.searchParams.get('code') ?? ''
  const { status, body } = await redeem(world, { client: id, code, pkce })
  assert.equal(status, 200, JSON.stringify(body))
  const { agents } = (await browser.call('GET agents')).body
  const agent = agents.find((one: { client_id: string; yours: boolean }) => one.client_id === id && one.yours)
  return { client: id, tokens: body, headers: { authorization: `Bearer ${body.access_token}` }, agent: agent.id }
}

/** The claims of a token, without any check. */
export function claimsIn(token: string): Readonly<Record<string, unknown>> {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
}
