import { sql, texts, type Db, type Sql } from '../../../platform/db.ts'

export type PasskeyRow = {
  readonly id: string
  readonly user_id: string
  readonly credential_id: string
  readonly name: string
  readonly public_key: Buffer
  readonly counter: number
  readonly transports: readonly string[]
  readonly created_at: Date
  readonly last_used_at: Date | null
}

const columns: Sql = sql`id, user_id, credential_id, name, public_key, counter, to_json(transports) as transports, created_at, last_used_at`

export function findPasskey(db: Db, credentialId: string): Promise<PasskeyRow | undefined> {
  return db.maybe<PasskeyRow>(sql`
    select ${columns}
      from passkeys
     where credential_id = ${credentialId}
  `)
}

export function listPasskeys(db: Db, userId: string): Promise<readonly PasskeyRow[]> {
  return db.many<PasskeyRow>(sql`
    select ${columns}
      from passkeys
     where user_id = ${userId}
     order by created_at desc, id desc
  `)
}

/** False when this passkey is already known. */
export async function insertPasskey(
  db: Db,
  row: {
    id: string
    userId: string
    credentialId: string
    name: string
    publicKey: Uint8Array
    counter: number
    transports: readonly string[]
    now: Date
  },
): Promise<boolean> {
  const inserted = await db.run(sql`
    insert into passkeys (id, user_id, credential_id, name, public_key, counter, transports, created_at)
    values (${row.id}, ${row.userId}, ${row.credentialId}, ${row.name}, ${row.publicKey}, ${row.counter}, ${texts(row.transports)},
            ${row.now})
    on conflict (credential_id) do nothing
  `)
  return inserted === 1
}

export async function setUsed(db: Db, at: { id: string; counter: number; now: Date }): Promise<void> {
  await db.run(sql`
    update passkeys
       set counter = ${at.counter},
           last_used_at = ${at.now}
     where id = ${at.id}
       and counter <= ${at.counter}
  `)
}

export function deletePasskey(db: Db, at: { id: string; userId: string }): Promise<number> {
  return db.run(sql`
    delete from passkeys
     where id = ${at.id}
       and user_id = ${at.userId}
  `)
}
