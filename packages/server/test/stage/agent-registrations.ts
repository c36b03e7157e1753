import { createHmac } from 'node:crypto'
import { solveChallenge, type Challenge, type Solution } from 'altcha-lib'
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2'
import type { Answer, World } from './harness.ts'

/** Agents that register themselves. Their solutions come from the library of ALTCHA. */

type At = Pick<World, 'address'>
export type From = { readonly ip?: string; readonly headers?: Readonly<Record<string, string>> }

/** Cheap enough for a test, and still 4,096 tries on average. */
export const EASY = { AGENT_WORK: '1' }
/** Each request can come from another address. */
export const PROXIED = { ...EASY, TRUST_PROXY: '127.0.0.0/8,::1/128' }

const sentFrom = ({ ip, headers }: From): Record<string, string> => ({
  ...(ip === undefined ? {} : { 'x-forwarded-for': ip }),
  ...headers,
})

async function asked(response: Response): Promise<Answer> {
  return { status: response.status, headers: response.headers, body: await response.json() }
}

export async function challengeFor({ address }: At, from: From = {}): Promise<Answer> {
  return asked(await fetch(`${address}/v1/agents/register/challenge`, { headers: sentFrom(from) }))
}

export async function solved({ parameters, signature }: Challenge): Promise<Solution> {
  const solution = await solveChallenge({
    challenge: { parameters, ...(signature === undefined ? {} : { signature }) },
    deriveKey,
  })
  if (solution === null) throw new Error('The challenge was not solved in time.')
  return solution
}

export async function post({ address }: At, body: unknown, from: From = {}): Promise<Answer> {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const headers = { 'content-type': 'application/json', ...sentFrom(from) }
  return asked(await fetch(`${address}/v1/agents/register`, { method: 'POST', headers, body: text }))
}

/** A body with a solved challenge; `members` replace those of the body. */
export async function aRegistration(
  world: At,
  members: Readonly<Record<string, unknown>> = {},
  from: From = {},
): Promise<Record<string, unknown>> {
  const { body } = await challengeFor(world, from)
  const { parameters, signature, terms_version } = body
  const { counter, derivedKey } = await solved({ parameters, signature })
  return {
    agent_name: 'Deploy bot',
    accept_terms: terms_version,
    challenge: { parameters, signature },
    solution: { counter, derivedKey },
    ...members,
  }
}

export async function registered(
  world: At,
  members: Readonly<Record<string, unknown>> = {},
  from: From = {},
): Promise<Answer['body']> {
  const answer = await post(world, await aRegistration(world, members, from), from)
  if (answer.status !== 201) throw new Error(`It answered ${answer.status}: ${JSON.stringify(answer.body)}`)
  return answer.body
}

/** A challenge that somebody else signed. */
export function forged(parameters: Challenge['parameters']): Challenge {
  const text = JSON.stringify(Object.fromEntries(Object.entries(parameters).toSorted(([a], [b]) => (a < b ? -1 : 1))))
  return { parameters, signature: createHmac('sha256', 'guessed').update(text).digest('hex') }
}
