import { Challenge, LIMITS, RegisterAgent, Solution } from '@postroad/contract'
import type { z } from 'zod'
import { parseJson } from '../../domain/json/json-text.ts'
import { withPlainNumbers } from '../../domain/json/plain-numbers.ts'
import { Refusal, refuse } from '../../domain/refusal.ts'
import { sentenceOf } from '../../resources/input-sentence.ts'
import type { Registering } from '../../resources/people/agent-accounts/index.ts'

/** A name or a contact is one line. */
const CONTROL = /\p{Cc}/u
const MEMBERS: ReadonlySet<string> = new Set(Object.keys(RegisterAgent.shape))

/** The body of a registration, with a reason for each member that is wrong, in the order of the contract. */
export function readRegistration(
  text: unknown,
  { terms_version: current }: { readonly terms_version: string },
): Registering {
  const body = asObject(text)
  const unknown = Object.keys(body).find((name) => !MEMBERS.has(name))
  if (unknown !== undefined) throw refuse('invalid_body', `Unknown field: "${unknown.slice(0, 64)}". Remove it.`)
  const { agent_name: name, operator_contact: contact = null, accept_terms: terms, challenge, solution } = body
  const agent = { agent_name: nameOf(name), operator_contact: contactOf(contact) }
  // Before the proof, so that no agent works for Terms that it does not accept.
  if (terms !== current) throw new Refusal('terms_not_accepted', { fields: { terms_version: current } })
  return { ...agent, accept_terms: current, ...proofOf(challenge, solution) }
}

function asObject(text: unknown): Readonly<Record<string, unknown>> {
  const read = typeof text === 'string' ? parseJson(text) : undefined
  if (read?.ok === false) throw refuse('invalid_body', read.error)
  const value = withPlainNumbers(read?.value)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  throw refuse('invalid_body', 'Send a JSON object with agent_name, accept_terms, challenge and solution.')
}

function nameOf(value: unknown): string {
  const name = typeof value === 'string' ? value.trim() : ''
  if (name === '' || name.length > LIMITS.nameCharsMax || CONTROL.test(name)) throw refuse('invalid_agent_name')
  return name
}

function contactOf(value: unknown): string | null {
  if (value === null) return null
  const contact = typeof value === 'string' ? value.trim() : ''
  const isAddress = /^[^\s@]+@[^\s@]+$/.test(contact)
  const isUrl = URL.canParse(contact) && /^https?:$/.test(new URL(contact).protocol)
  if (contact.length > LIMITS.agentContactCharsMax || CONTROL.test(contact) || !(isAddress || isUrl))
    throw refuse('invalid_operator_contact')
  return contact
}

function proofOf(challenge: unknown, solution: unknown): Pick<Registering, 'challenge' | 'solution'> {
  if (challenge === undefined || solution === undefined) throw refuse('proof_of_work_required')
  const readChallenge = Challenge.safeParse(challenge)
  if (!readChallenge.success) throw refuse('invalid_challenge', sentence(readChallenge.error, challenge))
  const readSolution = Solution.safeParse(solution)
  if (!readSolution.success) throw refuse('invalid_proof_of_work', sentence(readSolution.error, solution))
  return { challenge: readChallenge.data, solution: readSolution.data }
}

function sentence({ issues }: z.ZodError, value: unknown): string {
  return sentenceOf(issues, { value, where: 'body' })
}
