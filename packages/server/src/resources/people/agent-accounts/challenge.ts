import type { Deps } from '../../../context.ts'
import { drawParameters, signatureOf } from '../../../domain/people/proof-of-work.ts'
import { networkOf } from '../../../domain/people/source-network.ts'
import { fillOf, requireRoomIn } from './caps.ts'
import { requireOpen } from './open.ts'
import { requireRoomForRequest } from './rate.ts'

const PURPOSE = 'agent registration challenges'

/**
 * A signed challenge. It is harder when the cap of the day fills, and for a network from which many have registered. Nobody
 * works for a registration that a cap would refuse.
 */
export async function issueChallenge(deps: Deps, { ip }: { readonly ip: string | undefined }) {
  const { settings } = await requireOpen(deps)
  await requireRoomForRequest(deps, ip)
  const fill = requireRoomIn(deps, await fillOf(deps, { ip, cap: settings.agent_registrations_per_day }))
  const parameters = drawParameters(
    { now: deps.clock.now(), randomBytes: deps.randomBytes },
    { ...fill, work: deps.config.AGENT_WORK, network: networkOf(ip) },
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
