import { sql, type Db } from '../../../platform/db.ts'
import type { Due } from '../../../platform/due-board.ts'

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

/** Records that the email was sent, and deletes its content, unless operators must hand it over. */
export async function setSent(db: Db, at: { id: string; now: Date; inOutbox: boolean }): Promise<void> {
  await db.run(sql`
    update mails
       set sent_at = ${at.now},
           in_outbox = ${at.inOutbox},
           sealed = case when ${at.inOutbox} then sealed end,
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

export type OutboxMail = {
  readonly id: string
  readonly sealed: Buffer
  readonly created_at: Date
  readonly expires_at: Date
}

/** The emails that nobody got and that are still useful, newest first. */
export function listOutbox(db: Db, at: { now: Date; limit: number }): Promise<readonly OutboxMail[]> {
  return db.many<OutboxMail>(sql`
    select id, sealed, created_at, expires_at
      from mails
     where in_outbox
       and sealed is not null
       and expires_at > ${at.now}
     order by created_at desc, id desc
     limit ${at.limit}
  `)
}

export function findInOutbox(db: Db, at: { id: string; now: Date }): Promise<OutboxMail | undefined> {
  return db.maybe<OutboxMail>(sql`
    select id, sealed, created_at, expires_at
      from mails
     where id = ${at.id}
       and in_outbox
       and sealed is not null
       and expires_at > ${at.now}
  `)
}

/** Deletes the content of emails that are no longer useful. */
export function emptyOutbox(db: Db, before: Date): Promise<number> {
  return db.run(sql`
    update mails
       set in_outbox = false,
           sealed = null
     where in_outbox
       and expires_at <= ${before}
  `)
}

/** When an email waits to be sent. */
export const mailDue: Due = (now) =>
  sql`select from mails where sent_at is null and failed_at is null and due_at <= ${now}`
