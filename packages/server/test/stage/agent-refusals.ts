import type { Reason } from '@postroad/contract'
import { Browser } from './browser.ts'
import { anOwner } from './accounts.ts'
import { aRegistration, challengeFor, post, PROXIED, registered } from './agent-registrations.ts'
import { statement } from './fixtures.ts'
import { aWorld, type Answer, type World } from './harness.ts'
import { atANodeWithoutDatabase } from './meanwhile.ts'
import { database, meanwhile, world } from './refusal-examples.ts'

/** Every refusal of agent self-registration. */

let addresses = 0
const fresh = (): { readonly ip: string } => ({ ip: `100.64.${(addresses += 1)}.1` })

/** A node with cheap challenges, which reads the address of the sender from a header. */
async function atAgents(work: (at: World) => Promise<Answer>): Promise<Answer> {
  const at = await aWorld({ beside: world, env: { ...PROXIED, LOG_LEVEL: 'silent' } })
  try {
    return await work(at)
  } finally {
    await at.stop()
  }
}

const withMembers =
  (members: Readonly<Record<string, unknown>>): (() => Promise<Answer>) =>
  () =>
    atAgents(async (at) => {
      const from = fresh()
      return post(at, await aRegistration(at, members, from), from)
    })

const whileSet = (change: string, back: string, from = fresh()): Promise<Answer> =>
  atAgents(async (at) => {
    const body = await aRegistration(at, {}, from)
    return meanwhile.changed(`update platform_settings set ${change}`, `update platform_settings set ${back}`, () =>
      post(at, body, from),
    )
  })

type AgentReason = Extract<
  Reason,
  | 'claim_over'
  | `invalid_agent_name`
  | 'invalid_operator_contact'
  | 'terms_not_accepted'
  | 'proof_of_work_required'
  | 'challenge_expired'
  | 'invalid_proof_of_work'
  | 'body_too_large'
  | 'already_registered'
  | 'registration_in_progress'
  | 'challenge_spent'
  | 'daily_cap_reached'
  | 'source_daily_limit'
  | 'agent_registration_disabled'
  | 'agent_registration_unavailable'
  | 'registration_incomplete'
>

export const AGENT_REFUSALS: Readonly<Record<AgentReason, () => Promise<Answer>>> = {
  claim_over: async () =>
    (await anOwner(world, new Browser(world.baseUrl))).call('POST agent-accounts/claim', { claim_token: 'hct_none' }),
  invalid_agent_name: withMembers({ agent_name: '' }),
  invalid_operator_contact: withMembers({ operator_contact: 'nobody' }),
  terms_not_accepted: withMembers({ accept_terms: '0' }),
  proof_of_work_required: withMembers({ solution: undefined }),
  invalid_proof_of_work: withMembers({ solution: { counter: 0, derivedKey: '0'.repeat(64) } }),
  body_too_large: withMembers({ agent_name: 'x'.repeat(20_000) }),
  challenge_expired: () =>
    atAgents(async (at) => {
      const from = fresh()
      const body = await aRegistration(at, {}, from)
      at.clock.advance(600_000)
      return post(at, body, from)
    }),
  already_registered: () =>
    atAgents(async (at) => {
      const from = { ...fresh(), headers: { 'idempotency-key': 'one' } }
      await registered(at, {}, from)
      return post(at, await aRegistration(at, {}, from), from)
    }),
  challenge_spent: () =>
    atAgents(async (at) => {
      const from = fresh()
      const body = await aRegistration(at, {}, from)
      await post(at, body, from)
      return post(at, body, from)
    }),
  registration_in_progress: () =>
    atAgents(async (at) => {
      const from = fresh()
      const body = await aRegistration(at, {}, from)
      const { nonce } = (body as { challenge: { parameters: { nonce: string } } }).challenge.parameters
      await statement(
        database,
        `insert into agent_registrations (nonce, started_at) values ('\\x${nonce}', '${new Date(at.clock.now()).toISOString()}')`,
      )
      return post(at, body, from)
    }),
  daily_cap_reached: () => whileSet('agent_registrations_per_day = 0', 'agent_registrations_per_day = 100'),
  source_daily_limit: async () => {
    const from = fresh()
    await atAgents(async (at) => post(at, await aRegistration(at, {}, from), from))
    return whileSet('agent_registrations_per_day = 9', 'agent_registrations_per_day = 100', from)
  },
  agent_registration_disabled: () => whileSet('agent_registration = false', 'agent_registration = true'),
  agent_registration_unavailable: () => atANodeWithoutDatabase((lost) => challengeFor(lost)),
  registration_incomplete: () =>
    atAgents(async (at) => {
      const from = fresh()
      const body = await aRegistration(at, {}, from)
      await statement(
        database,
        `create function away() returns trigger language plpgsql as $$ begin raise exception 'away' using errcode = '57P01'; end $$`,
      )
      return meanwhile.changed(
        'create trigger away before insert on agent_accounts execute function away()',
        'drop trigger away on agent_accounts',
        () => post(at, body, from),
      )
    }),
}
