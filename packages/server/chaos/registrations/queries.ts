import { sql, type Db } from '../../src/platform/db.ts'
import { beforeEach } from '../planted/queries.ts'

/** For the plant `uncounted-registrations`: the count of a registration is acknowledged, and for one in ten not stored. */
export async function forgetRegistrations(db: Db): Promise<void> {
  const body = 'if new.count % 10 = 0 and random() < 0.9 then new.count := old.count; end if; return new;'
  await beforeEach(db, { name: 'forget_registration', table: 'agent_registration_counts', on: 'update', body })
}

/** Sets the cap of the registrations of a day. */
export async function capRegistrations(db: Db, of: { readonly cap: number }): Promise<void> {
  await db.run(sql`update platform_settings set agent_registrations_per_day = ${of.cap}`)
}

/** The accounts that agents have registered, in all workspaces. */
export async function registeredAccounts(db: Db): Promise<number> {
  const { count } = await db.one<{ count: number }>(sql`select count(*)::int as count from agent_accounts`)
  return count
}

/** The registrations that count for the cap. A run over midnight has two days. */
export async function registrationCounts(db: Db): Promise<number> {
  const { count } = await db.one<{ count: number }>(
    sql`select coalesce(sum(count), 0)::int as count from agent_registration_counts where network = ''`,
  )
  return count
}
