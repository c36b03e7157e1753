import { encodeId } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { checkPlan } from '../../../domain/workspace/plan.ts'
import { inTransaction } from '../../../transaction.ts'
import type { Room } from '../../verbs.ts'
import { auditInstallation, operatorOf } from '../operators/index.ts'
import { findPlatformSettings, lockPlatformSettings, putPlatformSettings, type PlatformSettingsRow } from './queries.ts'

export { findPlatformSettings } from './queries.ts'

export const platformSettings: Room<'platformSettings'> = {
  get: async (ctx) => ({ settings: present(ctx, await findPlatformSettings(ctx.db)) }),

  update: (ctx, changes) => {
    if (typeof changes.default_plan === 'string') checkPlan(ctx.plans, changes.default_plan, 'default_plan')
    return inTransaction(ctx, async (tx) => {
      const { updated_at: _at, updated_by: _by, ...current } = await lockPlatformSettings(tx.db)
      const { userId } = operatorOf(tx)
      const row = await putPlatformSettings(tx.db, {
        ...current,
        ...sentOf(changes),
        updated_at: new Date(tx.clock.now()),
        updated_by: userId,
      })
      await auditInstallation(tx, { action: 'update_platform_settings', details: { ...changes } })
      return { settings: present(tx, row) }
    })
  },
}

/** The members that were sent; null is a value. */
function sentOf<T extends object>(changes: T): { [Member in keyof T]: Exclude<T[Member], undefined> } {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the entries without undefined
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined)) as {
    [Member in keyof T]: Exclude<T[Member], undefined>
  }
}

function present({ plans }: Pick<Ctx, 'plans'>, row: PlatformSettingsRow) {
  return {
    support_contact: row.support_contact,
    workspace_creation: row.workspace_creation,
    default_plan: row.default_plan,
    agent_registration: row.agent_registration,
    agent_registrations_per_day: row.agent_registrations_per_day,
    terms_version: row.terms_version,
    terms_url: row.terms_url,
    plans: Object.keys(plans),
    updated_at: row.updated_at?.toISOString() ?? null,
    updated_by: row.updated_by === null ? null : encodeId('user', row.updated_by),
  }
}
