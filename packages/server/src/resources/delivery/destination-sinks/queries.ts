import type { StoredSigning } from '../../../domain/delivery/signing-keys.ts'
import { sql, type Db } from '../../../platform/db.ts'

type SinkSecrets = {
  readonly secret: Buffer
  readonly previous_secret: Buffer | null
  readonly previous_secret_expires_at: Date | null
  readonly signing: StoredSigning
  readonly signing_key: Buffer | null
  readonly previous_signing_key: Buffer | null
}

/** The signing secrets of a destination. The URL of a sink names no project, so this selects by workspace and id. */
export function findSinkSecrets(
  db: Db,
  at: { readonly workspaceId: string; readonly id: string },
): Promise<SinkSecrets | undefined> {
  return db.maybe<SinkSecrets>(sql`
    select secret, previous_secret, previous_secret_expires_at, signing, signing_key, previous_signing_key
      from destinations
     where workspace_id = ${at.workspaceId}
       and id = ${at.id}
  `)
}
