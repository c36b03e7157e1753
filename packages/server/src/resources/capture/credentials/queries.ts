import { sql, type Db } from '../../../platform/db.ts'

export type CredentialKind = 'webhook_url' | 'ingest_key' | 'api_key' | 'data_key' | 'portal_token'

export type CredentialRow = {
  readonly kind: CredentialKind
  readonly workspace_id: string
  readonly project_id: string | null
  readonly subject_id: string
  readonly expires_at: Date | null
}

/** The lookup by hash, which is the only statement that may leave the workspace out. */
export function findCredential(db: Db, hash: Uint8Array): Promise<CredentialRow | undefined> {
  return db.maybe<CredentialRow>(sql`
    select kind, workspace_id, project_id, subject_id, expires_at
      from credentials
     where hash = ${hash}
  `)
}

export async function insertCredential(
  db: Db,
  row: { hash: Uint8Array; kind: CredentialKind; workspaceId: string; projectId: string | null; subjectId: string },
): Promise<void> {
  await db.run(sql`
    insert into credentials (hash, kind, workspace_id, project_id, subject_id)
    values (${row.hash}, ${row.kind}, ${row.workspaceId}, ${row.projectId}, ${row.subjectId})
  `)
}

export async function deleteCredentialsOf(db: Db, at: { workspaceId: string; subjectId: string }): Promise<void> {
  await db.run(sql`
    delete from credentials
     where workspace_id = ${at.workspaceId}
       and subject_id = ${at.subjectId}
  `)
}

/** Deletes every credential of a subject except one: a rotation ends the others. */
export async function deleteOtherCredentialsOf(
  db: Db,
  at: { workspaceId: string; subjectId: string; hash: Uint8Array },
): Promise<void> {
  await db.run(sql`
    delete from credentials
     where workspace_id = ${at.workspaceId}
       and subject_id = ${at.subjectId}
       and hash <> ${at.hash}
  `)
}

/** Ends a credential at a time. Every process compares that time with its clock, so nothing is written then. */
export async function endCredentialAt(
  db: Db,
  at: { workspaceId: string; hash: Uint8Array; expiresAt: Date },
): Promise<void> {
  await db.run(sql`
    update credentials
       set expires_at = ${at.expiresAt}
     where workspace_id = ${at.workspaceId}
       and hash = ${at.hash}
  `)
}

/** Deletes the URLs of all workspaces that ended before this time. Returns how many. */
export function deleteEndedUrls(db: Db, before: Date): Promise<number> {
  return db.run(sql`
    delete from credentials
     where kind = 'webhook_url'
       and expires_at < ${before}
  `)
}

export async function deleteCredentialsOfProject(
  db: Db,
  at: { workspaceId: string; projectId: string },
): Promise<void> {
  await db.run(sql`
    delete from credentials
     where workspace_id = ${at.workspaceId}
       and project_id = ${at.projectId}
  `)
}
