import type { Ctx, Deps } from '../../../context.ts'
import { Refusal } from '../../../domain/refusal.ts'
import { networkOf } from '../../../domain/people/source-network.ts'
import { countOfDay, countWithin } from './queries.ts'

/** The caps of a day: one for all agents, and one for each network. */

export const WHOLE_DAY = ''
const DAY_MS = 86_400_000
/** One network gets at most the day's cap divided by this, and at least one. */
const NETWORK_PART = 10

/** The day in UTC. */
export const dayOf = (now: number): string => new Date(now).toISOString().slice(0, 10)

type Of = { readonly ip: string | undefined; readonly cap: number }
export type Fill = { readonly registered: number; readonly fromNetwork: number; readonly cap: number }

/** The part of the caps that is used at the moment. */
export async function fillOf({ database, clock }: Deps, { ip, cap }: Of): Promise<Fill> {
  const day = dayOf(clock.now())
  const [registered, fromNetwork] = await Promise.all([
    countOfDay(database.forSystem, { day, network: WHOLE_DAY }),
    countOfDay(database.forSystem, { day, network: networkOf(ip) }),
  ])
  return { registered, fromNetwork, cap }
}

const ofNetwork = (cap: number): number => Math.max(1, Math.floor(cap / NETWORK_PART))

/** Refuses early what the exact count of a registration would refuse. */
export function requireRoomIn({ clock }: Pick<Deps, 'clock'>, fill: Fill): Fill {
  const { registered, fromNetwork, cap } = fill
  if (registered >= cap) throw reached('daily_cap_reached', clock.now())
  if (fromNetwork >= ofNetwork(cap)) throw reached('source_daily_limit', clock.now())
  return fill
}

/** The counts are rows that the transaction locks, so that the caps are exact on all nodes together, and a refusal counts nothing. */
export async function countToday(tx: Ctx, { ip, cap }: Of): Promise<void> {
  const now = tx.clock.now()
  const day = dayOf(now)
  if (!(await countWithin(tx.db, { day, network: WHOLE_DAY, cap }))) throw reached('daily_cap_reached', now)
  if (!(await countWithin(tx.db, { day, network: networkOf(ip), cap: ofNetwork(cap) })))
    throw reached('source_daily_limit', now)
}

function reached(reason: 'daily_cap_reached' | 'source_daily_limit', now: number): Refusal {
  return new Refusal(reason, { fields: { retry_after: Math.ceil((Date.parse(dayOf(now)) + DAY_MS - now) / 1_000) } })
}
