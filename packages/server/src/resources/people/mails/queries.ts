import { sql, type Db } from '../../../platform/db.ts'

export async function insertMail(
  db: Db,
  row: { id: string; kind: string; sealed: Uint8Array; now: Date; expiresAt: Date; sentAt: Date | null },
): Promise<void> {
  await db.run(sql`
    insert into mails (id, kind, sealed, created_at, expires_at, due_at, sent_at)
    values (${row.id}, ${row.kind}, ${row.sealed}, ${row.now}, ${row.expiresAt}, ${row.now}, ${row.sentAt})
  `)
}

export type DueMail = {
  readonly id: string
  readonly kind: string
  readonly sealed: Buffer
  readonly attempts: number
  readonly expires_at: Date
}

/** Leases due emails until `leaseUntil`. If the process dies, they become due again then. */
export function leaseDueMails(db: Db, at: { now: Date; leaseUntil: Date; limit: number }): Promise<readonly DueMail[]> {
  return db.many<DueMail>(sql`
    update mails
       set due_at = ${at.leaseUntil},
           attempts = attempts + 1
     where id in (
             select id
               from mails
              where sent_at is null
                and failed_at is null
                and due_at <= ${at.now}
              order by due_at
              limit ${at.limit}
                for update skip locked
           )
       and sent_at is null
       and failed_at is null
    returning id, kind, sealed, attempts, expires_at
  `)
}

/** Records that the email was sent, and deletes its content. */
export async function setSent(db: Db, at: { id: string; now: Date }): Promise<void> {
  await db.run(sql`
    update mails
       set sent_at = ${at.now},
           sealed = null,
           last_error = null
     where id = ${at.id}
       and sent_at is null
  `)
}

export async function setRetry(db: Db, at: { id: string; dueAt: Date; error: string }): Promise<void> {
  await db.run(sql`
    update mails
       set due_at = ${at.dueAt},
           last_error = ${at.error}
     where id = ${at.id}
       and sent_at is null
  `)
}

export async function setFailed(db: Db, at: { id: string; now: Date; error: string }): Promise<void> {
  await db.run(sql`
    update mails
       set failed_at = ${at.now},
           sealed = null,
           last_error = ${at.error}
     where id = ${at.id}
       and sent_at is null
  `)
}

/** Deletes old emails. */
export function deleteOldMails(db: Db, before: Date): Promise<number> {
  return db.run(sql`
    delete from mails
     where created_at < ${before}
       and (sent_at is not null or failed_at is not null)
  `)
}
