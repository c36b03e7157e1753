import { sql, type Db } from '../../../../platform/db.ts'
import type { DestinationRow } from '../queries.ts'

export type PublishedRow = Pick<
  DestinationRow,
  'id' | 'signing' | 'signing_key' | 'previous_signing_key' | 'previous_secret_expires_at'
>

/** The destinations of a project whose public keys anyone may read: one by its id, or those that the project owns. */
export function listSigningKeys(
  db: Db,
  at: { readonly projectId: string; readonly id: string | null; readonly limit: number },
): Promise<readonly PublishedRow[]> {
  // oxlint-disable-next-line house/tenant-statement -- the address of the keys has the id of the project alone
  return db.many<PublishedRow>(sql`
    select d.id, d.signing, d.signing_key, d.previous_signing_key, d.previous_secret_expires_at
      from projects j
      join destinations d on d.workspace_id = j.workspace_id and d.project_id = j.id
     where j.id = ${at.projectId}
       and j.deleted_at is null
       and d.signing_key is not null
       and (d.id = ${at.id} or (${at.id}::uuid is null and d.portal_customer_id is null))
     order by d.id desc
     limit ${at.limit}
  `)
}
