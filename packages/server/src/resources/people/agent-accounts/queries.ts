import { sql, type Db, type Sql } from '../../../platform/db.ts'

export type AgentAccountRow = {
  readonly workspace_id: string
  readonly id: string
  readonly user_id: string
  readonly name: string
  readonly operator_contact: string | null
  readonly terms_version: string
  readonly created_at: Date
  readonly claimed_at: Date | null
}

const columns: Sql = sql`workspace_id, id, user_id, name, operator_contact, terms_version, created_at, claimed_at`

export function insertAgentAccount(
  db: Db,
  row: Omit<AgentAccountRow, 'claimed_at'> & { readonly claimHash: Uint8Array },
): Promise<AgentAccountRow> {
  return db.one<AgentAccountRow>(sql`
    insert into agent_accounts (workspace_id, id, user_id, name, operator_contact, terms_version, claim_hash, created_at)
    values (${row.workspace_id}, ${row.id}, ${row.user_id}, ${row.name}, ${row.operator_contact}, ${row.terms_version}, ${row.claimHash}, ${row.created_at})
    returning ${columns}
  `)
}

/** The account of a claim token, locked, so that only one of two concurrent claims finds it. */
export function lockByClaim(db: Db, claimHash: Uint8Array): Promise<AgentAccountRow | undefined> {
  // oxlint-disable-next-line house/tenant-statement -- the token is the credential, and names no workspace
  return db.maybe<AgentAccountRow>(sql`
    select ${columns}
      from agent_accounts
     where claim_hash = ${claimHash}
       for update
  `)
}

export function setClaimed(
  db: Db,
  at: { workspaceId: string; id: string; userId: string; now: Date },
): Promise<AgentAccountRow> {
  return db.one<AgentAccountRow>(sql`
    update agent_accounts
       set claim_hash = null,
           claimed_at = ${at.now},
           claimed_by = ${at.userId}
     where workspace_id = ${at.workspaceId}
       and id = ${at.id}
       and claim_hash is not null
    returning ${columns}
  `)
}

export async function isUnclaimed(db: Db, workspaceId: string): Promise<boolean> {
  const found = await db.maybe(sql`
    select 1 as one
      from agent_accounts
     where workspace_id = ${workspaceId}
       and claim_hash is not null
  `)
  return found !== undefined
}

export type RegistrationRow = {
  readonly started_at: Date
  readonly account_id: string | null
  readonly by_key: boolean
}

/** An earlier registration with the same challenge or the same Idempotency-Key. */
export function findRegistration(
  db: Db,
  at: { nonce: Uint8Array; keyHash: Uint8Array | null },
): Promise<RegistrationRow | undefined> {
  return db.maybe<RegistrationRow>(sql`
    select started_at, account_id, key_hash is not distinct from ${at.keyHash}::bytea and key_hash is not null as by_key
      from agent_registrations
     where nonce = ${at.nonce}
        or key_hash = ${at.keyHash}
     order by account_id nulls last
     limit 1
  `)
}

/** Uses a challenge; false when it or the Idempotency-Key is in use. */
export async function beginRegistration(
  db: Db,
  row: { nonce: Uint8Array; keyHash: Uint8Array | null; now: Date },
): Promise<boolean> {
  const begun = await db.run(sql`
    insert into agent_registrations (nonce, key_hash, started_at)
    values (${row.nonce}, ${row.keyHash}, ${row.now})
    on conflict do nothing
  `)
  return begun === 1
}

/** False when this request was so slow that another one has taken over the challenge. */
export async function endRegistration(db: Db, at: { nonce: Uint8Array; accountId: string }): Promise<boolean> {
  const ended = await db.run(sql`
    update agent_registrations
       set account_id = ${at.accountId}
     where nonce = ${at.nonce}
       and account_id is null
  `)
  return ended === 1
}

/** Makes a challenge usable again, when nothing was registered with it. */
export async function freeRegistration(db: Db, nonce: Uint8Array): Promise<void> {
  await db.run(sql`
    delete from agent_registrations
     where nonce = ${nonce}
       and account_id is null
  `)
}

/** Makes the challenges of registrations that never ended usable again. */
export async function freeAbandoned(
  db: Db,
  at: { nonce: Uint8Array; keyHash: Uint8Array | null; before: Date },
): Promise<void> {
  await db.run(sql`
    delete from agent_registrations
     where (nonce = ${at.nonce} or key_hash = ${at.keyHash})
       and account_id is null
       and started_at <= ${at.before}
  `)
}

export function deleteOldRegistrations(db: Db, { before, limit }: { before: Date; limit: number }): Promise<number> {
  return db.run(sql`
    delete from agent_registrations
     where nonce in (select nonce from agent_registrations where started_at < ${before} limit ${limit})
  `)
}

/** Counts one registration of the day, unless the cap is reached. Concurrent registrations count one after another. */
export async function countWithin(db: Db, at: { day: string; network: string; cap: number }): Promise<boolean> {
  if (at.cap < 1) return false
  const counted = await db.run(sql`
    insert into agent_registration_counts as c (day, network, count)
    values (${at.day}, ${at.network}, 1)
    on conflict (day, network) do update
       set count = c.count + 1
     where c.count < ${at.cap}
  `)
  return counted === 1
}

export async function countOfDay(db: Db, at: { day: string; network: string }): Promise<number> {
  const found = await db.maybe<{ count: number }>(sql`
    select count
      from agent_registration_counts
     where day = ${at.day}
       and network = ${at.network}
  `)
  return found?.count ?? 0
}

export function deleteOldCounts(db: Db, before: string): Promise<number> {
  return db.run(sql`
    delete from agent_registration_counts
     where day < ${before}
  `)
}
