import { LIMITS } from '@postroad/contract'
import type { Deps } from '../../../context.ts'
import { drawParameters, signatureOf } from '../../../domain/people/proof-of-work.ts'
import { networkOf, sourceOf } from '../../../domain/people/source-network.ts'
import { requireOpen } from './open.ts'
import { countOfDay } from './queries.ts'
import { requireRoomFor } from './rate.ts'

const PURPOSE = 'agent registration challenges'
export const WHOLE_DAY = ''

/** A signed challenge. It is harder when the cap of the day fills, and for a network from which many have registered. */
export async function issueChallenge(deps: Deps, { ip }: { readonly ip: string | undefined }) {
  const { settings } = await requireOpen(deps)
  await requireRoomFor(deps, {
    what: 'agent_challenge',
    whose: sourceOf(ip),
    burst: LIMITS.agentChallengeBurst,
    refillMs: LIMITS.agentChallengeRefillMs,
  })
  const now = deps.clock.now()
  const day = dayOf(now)
  const db = deps.database.forSystem
  const [registered, fromNetwork] = await Promise.all([
    countOfDay(db, { day, network: WHOLE_DAY }),
    countOfDay(db, { day, network: networkOf(ip) }),
  ])
  const parameters = drawParameters(
    { now, randomBytes: deps.randomBytes },
    { work: deps.config.AGENT_WORK, registered, cap: settings.agent_registrations_per_day, fromNetwork },
  )
  const [newest] = deps.cipher.subkeys(PURPOSE)
  return {
    parameters,
    signature: signatureOf(parameters, newest.key).toString('hex'),
    terms_version: settings.terms_version,
    terms_url: settings.terms_url,
    register_url: `${deps.baseUrl()}/v1/agents/register`,
  }
}

/** Every key that can have signed a challenge. */
export function challengeKeys({ cipher }: Pick<Deps, 'cipher'>): readonly Uint8Array[] {
  return cipher.subkeys(PURPOSE).map(({ key }) => key)
}

/** The day in UTC. */
export const dayOf = (now: number): string => new Date(now).toISOString().slice(0, 10)
