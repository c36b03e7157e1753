import type { MapKind } from '@postroad/contract/map-kinds'
import { sql, type Db } from '../../../platform/db.ts'

/** The statement of this room reads the tables of other rooms, for the members that the map shows. */

type At = { readonly workspaceId: string; readonly projectId: string }

export type PartRow = {
  readonly kind: MapKind
  readonly id: string
  readonly name: string
  readonly enabled: boolean
  /** The datasets that it files records in. */
  readonly files: readonly string[]
  /** The datasets whose records it takes; null: all. */
  readonly takes: readonly string[] | null
  readonly detail: string | null
  /** The ids of the destinations to which a workflow delivers. */
  readonly delivers: readonly string[]
  /** A customer of a portal owns it, so it receives only events that name the customer. */
  readonly is_customers: boolean
}

/** The parts of a project through which events go, without the settings that the map does not show, and the steps of workflows. */
export function listParts(db: Db, { workspaceId, projectId }: At): Promise<readonly PartRow[]> {
  const mine = sql`workspace_id = ${workspaceId} and project_id = ${projectId}`
  const none = sql`'{}'::text[]`
  return db.many<PartRow>(sql`
    select 'webhook' as kind, id::text, name, enabled, array[dataset] as files, ${none} as takes, null as detail, ${none} as delivers, false as is_customers
      from webhooks
     where ${mine}
     union all
    select 'ingest_key', id::text, name, enabled, coalesce(datasets, ${none}), ${none}, null, ${none}, false
      from ingest_keys
     where ${mine}
       and revoked_at is null
     union all
    select 'source', id::text, name, enabled, array[dataset], ${none}, kind, ${none}, false
      from sources
     where ${mine}
     union all
    select 'cron_trigger', id::text, name, enabled, array[dataset], ${none}, expression, ${none}, false
      from cron_triggers
     where ${mine}
     union all
    select 'ws_trigger', id::text, name, enabled, array[dataset], ${none}, null, ${none}, false
      from ws_triggers
     where ${mine}
     union all
    select 'rule', id::text, name, enabled, array[dataset], ${none}, null, ${none}, false
      from rules
     where ${mine}
     union all
    select 'dataset', name, name, true, ${none}, ${none}, null, ${none}, false
      from datasets
     where ${mine}
     union all
    select 'workflow', id::text, name, active, ${none}, array[entry_dataset], null, ${none}, false
      from workflows
     where ${mine}
     union all
    select 'ai_trigger', t.id::text, t.name, t.active, array_remove(array[t.output_dataset], null), array[t.dataset],
           (select a.name
              from ai_agents a
             where a.workspace_id = t.workspace_id
               and a.project_id = t.project_id
               and a.id = t.agent_id),
           ${none}, false
      from ai_triggers t
     where ${mine}
     union all
    select 'destination', id::text, name, enabled, ${none}, datasets, config ->> 'kind', ${none}, portal_customer_id is not null
      from destinations
     where ${mine}
  `)
}
