import { RegisterAgent, RegisteredAgent, RegistrationChallenge } from '@postroad/contract'
import { AGENT_REASONS, EXAMPLE_TIME, exampleId } from '@postroad/contract/openapi'
import { refusedAnswers } from './refused.ts'
import type { Json, Schemas } from './schemas.ts'

/** The operations of agent self-registration, which need no credential. */

/** The schemas that this part of the document needs, by their key in `convert`. */
export const AGENTS_SENT = { 'agents.register:body': RegisterAgent }
export const AGENTS_SHOWN = {
  'agents.getChallenge:output': RegistrationChallenge,
  'agents.register:output': RegisteredAgent,
}

const CHALLENGE = {
  parameters: {
    algorithm: 'PBKDF2/SHA-256',
    cost: 2_441,
    data: { network: '203.0.113.0/24', times: 1, v: 1 },
    expiresAt: 1_793_534_400,
    keyLength: 32,
    keyPrefix: '000',
    nonce: '0f1e2d3c4b5a69788796a5b4c3d2e1f0',
    salt: 'f0e1d2c3b4a5968778695a4b3c2d1e0f',
  },
  signature: '5d41402abc4b2a76b9719d911017c5925d41402abc4b2a76b9719d911017c592',
}

const REGISTRATION = {
  agent_name: 'Deploy bot',
  operator_contact: 'ops@example.com',
  accept_terms: '1',
  challenge: CHALLENGE,
  solution: { counter: 2_963, derivedKey: `000${'a1'.repeat(30)}b` },
}

const BASE = 'https://hooks.example.com'
const REGISTERED = {
  account: {
    id: exampleId('agentAccount'),
    name: 'Deploy bot',
    operator_contact: 'ops@example.com',
    terms_version: '1',
    created_at: EXAMPLE_TIME,
    claimed_at: null,
  },
  workspace: { id: exampleId('workspace'), slug: 'deploy-bot', name: 'Deploy bot', plan: 'free' },
  project: { id: exampleId('project'), slug: 'default' },
  key: 'hk_…',
  claim: { token: 'hct_…', url: `${BASE}/account/claim#t=hct_…` },
  api_url: `${BASE}/admin/api`,
  mcp_url: `${BASE}/mcp`,
}

const IDEMPOTENCY_KEY: Json = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'For 24 hours, a repeat with the same key from the same address is refused with 409 and the id of the account. The key of the account is shown only once, so no response is repeated.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
}

export function agentPaths(schemas: Schemas): Readonly<Record<string, Json>> {
  const json = (id: string, example: Json): Json => ({
    'application/json': { schema: schemas.of(`agents.${id}`), example },
  })
  return {
    '/v1/agents/register/challenge': {
      get: {
        operationId: 'agents.getChallenge',
        tags: ['agents'],
        summary: 'Get a challenge for a registration',
        description:
          'A challenge in the format of ALTCHA, version 2. Solve it before it expires. It is harder when many agents have registered today.',
        security: [],
        parameters: [],
        responses: {
          200: {
            description: 'The operation succeeded.',
            content: json('getChallenge:output', {
              ...CHALLENGE,
              terms_version: '1',
              terms_url: null,
              register_url: `${BASE}/v1/agents/register`,
            }),
          },
          ...refusedAnswers(AGENT_REASONS.challenge),
        },
      },
    },
    '/v1/agents/register': {
      post: {
        operationId: 'agents.register',
        tags: ['agents'],
        summary: 'Register an agent',
        description:
          'Creates an identity for the agent, a workspace on the plan `free` with a Default project, and an admin API key, which is shown once. A person claims the workspace with the claim token. Until then, billing, SSO requests, invites and further API keys are refused with 403 and `claim_required`.',
        security: [],
        parameters: [IDEMPOTENCY_KEY],
        requestBody: { required: true, content: json('register:body', REGISTRATION) },
        responses: {
          201: { description: 'The agent is registered.', content: json('register:output', REGISTERED) },
          ...refusedAnswers(AGENT_REASONS.register),
        },
      },
    },
  }
}
