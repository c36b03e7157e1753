import type { Deps } from '../../../context.ts'
import { Refusal, refuse } from '../../../domain/refusal.ts'
import { DbError } from '../../../platform/db.ts'
import { findPlatformSettings } from '../../operate/platform-settings/index.ts'

/** The plan of accounts that agents register. */
export const PLAN = 'free'

export type Open = { readonly settings: Awaited<ReturnType<typeof findPlatformSettings>> }

/** The settings of the installation, when agents may register. */
export async function requireOpen(deps: Deps): Promise<Open> {
  const settings = await asUnavailable(() => findPlatformSettings(deps.database.forSystem))
  if (!settings.agent_registration) throw refuse('agent_registration_disabled')
  if (!isOpen(deps, settings)) throw refuse('agent_registration_unavailable')
  return { settings }
}

/** Without the limits of a plan, anyone could use the whole server. */
export function isOpen({ plans }: Pick<Deps, 'plans'>, settings: Open['settings']): boolean {
  return settings.agent_registration && Object.hasOwn(plans, PLAN)
}

/** Whether agents may register now. */
export async function isRegistrationOpen(deps: Deps): Promise<boolean> {
  return isOpen(deps, await findPlatformSettings(deps.database.forSystem))
}

/** Nothing has been registered yet, so the agent can simply try again. */
export async function asUnavailable<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof DbError) || !error.unavailable) throw error
    throw new Refusal('agent_registration_unavailable', { fields: { retry_after: 1 }, cause: error })
  }
}
