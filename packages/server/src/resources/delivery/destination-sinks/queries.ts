import { sql, type Db } from '../../../platform/db.ts'

type SinkSecrets = {
  readonly secret: Buffer
  readonly previous_secret: Buffer | null
  readonly previous_secret_expires_at: Date | null
}

/** The signing secrets of a destination. The URL of a sink names no project, so this selects by workspace and id. */
export function findSinkSecrets(
  db: Db,
  at: { readonly workspaceId: string; readonly id: string },
): Promise<SinkSecrets | undefined> {
  return db.maybe<SinkSecrets>(sql`
    select secret, previous_secret, previous_secret_expires_at
      from destinations
     where workspace_id = ${at.workspaceId}
       and id = ${at.id}
  `)
}
