import type { Ctx } from '../../../context.ts'
import { findPlatformSettings } from '../../operate/platform-settings/index.ts'
import { dayOf, WHOLE_DAY } from './caps.ts'
import { isOpen } from './open.ts'
import { countOfDay } from './queries.ts'

/** How much of the day's cap is used, for operators. */
export async function registrationsToday(ctx: Ctx) {
  const settings = await findPlatformSettings(ctx.db)
  const today = await countOfDay(ctx.db, { day: dayOf(ctx.clock.now()), network: WHOLE_DAY })
  const cap = settings.agent_registrations_per_day
  return { open: isOpen(ctx, settings), today, cap, share: cap === 0 ? 1 : Math.min(1, today / cap) }
}
