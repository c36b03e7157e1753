import { z } from 'zod'
import { idOutput } from './ids.ts'
import { LIMITS } from './limits.ts'
import { Timestamp } from './list.ts'

/** Agent self-registration, `/v1/agents/*` (contract part 1): a challenge, and an account for its solution. */

const hex = (bytes: number) => z.string().regex(new RegExp(`^[0-9a-f]{${bytes * 2}}$`))

/** The parameters of an ALTCHA challenge, version 2. The server signs them as JSON with sorted members. */
export const ChallengeParameters = z.strictObject({
  algorithm: z.literal('PBKDF2/SHA-256'),
  cost: z.int().min(1).describe('The iterations of each key.'),
  // The members in the order of their names, as ALTCHA signs them.
  data: z.strictObject({
    network: z.string().max(64).describe('The network that got the challenge and must send the solution.'),
    times: z.int().min(1).describe('How many times harder than usual the challenge is today for this network.'),
    v: z.literal(1),
  }),
  expiresAt: z.int().describe('Unix seconds. The solution must arrive before.'),
  keyLength: z.literal(32).describe('The bytes of a key.'),
  keyPrefix: z
    .string()
    .regex(/^[0-9a-f]{1,8}$/)
    .describe('The hexadecimal digits with which the key must start.'),
  nonce: hex(16),
  salt: hex(16),
})
export type ChallengeParameters = z.infer<typeof ChallengeParameters>

export const Challenge = z.strictObject({
  parameters: ChallengeParameters,
  signature: hex(32).describe('HMAC-SHA256 of the server over the parameters.'),
})
export type Challenge = z.infer<typeof Challenge>

/** A counter whose key starts with the prefix: PBKDF2 of the nonce and the counter as four bytes, big-endian. */
export const Solution = z.object({
  counter: z.int().min(0).max(4_294_967_295),
  derivedKey: hex(32).describe('The whole key of this counter.'),
})
export type Solution = z.infer<typeof Solution>

export const RegistrationChallenge = z.object({
  ...Challenge.shape,
  terms_version: z.string().describe('The version of the Terms to send as accept_terms.'),
  terms_url: z.string().nullable().describe('The URL of the Terms. null: the operator has published none.'),
  register_url: z.string().describe('POST the solution here.'),
})

export type RegistrationChallenge = z.infer<typeof RegistrationChallenge>

export const RegisterAgent = z.strictObject({
  agent_name: z.string().describe(`The name of the agent, 1 to ${LIMITS.nameCharsMax} characters.`),
  operator_contact: z
    .string()
    .nullable()
    .optional()
    .describe('How the operators of this server reach the people behind the agent: an email address or a URL.'),
  accept_terms: z.string().describe('The version of the Terms that the agent accepts, which must be the current one.'),
  challenge: Challenge.describe('The parameters and the signature of the challenge, unchanged.'),
  solution: Solution,
})

export const AgentAccount = z.object({
  id: idOutput('agentAccount'),
  name: z.string(),
  operator_contact: z.string().nullable(),
  terms_version: z.string(),
  created_at: Timestamp,
  claimed_at: Timestamp.nullable().describe('null: no person has claimed the account yet.'),
})

export const RegisteredAgent = z.object({
  account: AgentAccount,
  workspace: z.object({ id: idOutput('workspace'), slug: z.string(), name: z.string(), plan: z.string() }),
  project: z.object({ id: idOutput('project'), slug: z.string() }),
  key: z.string().describe('An API key with the admin role. It is shown only once.'),
  claim: z.object({
    token: z.string().describe('The token that a person uses to claim the account. It is shown only once.'),
    url: z.string().describe('The page for that person.'),
  }),
  api_url: z.string(),
  mcp_url: z.string(),
})
export type RegisteredAgent = z.infer<typeof RegisteredAgent>
