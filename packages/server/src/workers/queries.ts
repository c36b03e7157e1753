import type { Due } from '../platform/due-board.ts'
import { sql } from '../platform/db.ts'

/* oxlint-disable house/tenant-statement -- the conditions of the loops cover every workspace */

const sourceWaits: Due = (now) => sql`
  select
    from sources
   where enabled
     and due_at <= ${now}
     and (lease_until is null or lease_until <= ${now})`

/**
 * When a loop may have work. Each condition finds a row whenever the loop would, and is answered by an index or a small table. Rows
 * that only expire are not here, because a loop also runs now and then without a reason.
 */
export const CONDITIONS = {
  'mail.send': (now) => sql`select from mails where sent_at is null and failed_at is null and due_at <= ${now}`,
  'workflows.run': (now) => sql`
      select from workflow_instances where due_at <= ${now} and paused_at is null
      union all (select from workflow_instances where wait_key is not null limit 1)
      union all select from workflow_pauses where phase <> 'paused' or resumed_at is not null`,
  data_export: (now) => sql`
      select
        from data_exports
       where state in ('pending', 'running')
         and swept_at is null
         and (claimed_until is null or claimed_until <= ${now})`,
  ai_runs: (now) => sql`
      select
        from ai_runs
       where due_at <= ${now}
         and paused_at is null
         and (lease_until is null or lease_until <= ${now})`,
  'quarantine.admit': () => sql`select from quarantined_requests`,
  'replays.advance': () => sql`
      select from replays where state = 'running'
      union all (select from replays where pause_reason = 'allowance_used' limit 1)
      union all (select
                   from deliveries
                  where replay_id is not null
                    and state in ('delivered', 'failed', 'cancelled')
                  limit 1)`,
  'allowance.release': () => sql`select from deliveries where pause_reason = 'allowance_used'`,
  'cron_triggers.fire': (now) => sql`
      select
        from cron_triggers
       where (enabled or run_requested_at is not null)
         and least(next_at, run_requested_at) <= ${now}`,
  'ws_triggers.listen': (now) => sql`
      select
        from ws_triggers
       where enabled
         and connect_at <= ${now}
         and (lease_until is null or lease_until <= ${now})`,
  'sources.stream': (now) => sourceWaits(now),
  'sources.poll': (now) => sourceWaits(now),
  'sources.slots': (now) => sql`select from sources where slot_due_at <= ${now}`,
  'forwarders.send': (now) => sql`
      select
        from forwarder_cursors
       where due_at <= ${now}
         and (lease_until is null or lease_until <= ${now})`,
  'deletions.finish': () => sql`select from deletions where resuming`,
} as const satisfies Readonly<Record<string, Due>>
