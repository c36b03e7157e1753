import type { SourceSettings } from '@postroad/contract'
import type { SourceSecret } from '../../../domain/sources/secret.ts'
import type { ReplicationPlan, TableName } from '../../../platform/foreign-databases/replication/index.ts'
import { databasePlace } from './place.ts'

export type ReplicationSettings = Extract<SourceSettings, { kind: 'postgres_replication' }>

/** The slot and the publication of a source. Those that this server makes have the id of the source in their names. */
export function replicationPlan({
  id,
  settings,
  secret,
}: {
  id: string
  settings: ReplicationSettings
  secret: SourceSecret
}): ReplicationPlan {
  const { slot, publication, tables, operations, tls, snapshot } = settings
  const own = `postroad_${id.replaceAll('-', '')}`
  return {
    place: databasePlace({ kind: 'postgres', tls, connection: secret.connection }),
    slot: slot ?? own,
    ownsSlot: slot === null,
    snapshot,
    publication:
      publication === null ? { own, tables: (tables ?? []).map(tableName), operations } : { existing: publication },
  }
}

function tableName(text: string): TableName {
  const [first = '', second] = text.split('.')
  return second === undefined ? { schema: 'public', table: first } : { schema: first, table: second }
}
