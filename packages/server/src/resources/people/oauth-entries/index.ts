import type { Deps } from '../../../context.ts'
import type { Db } from '../../../platform/db.ts'
import { hashCredential } from '../../../platform/cipher.ts'
import {
  consumeEntry,
  deleteEntriesOf,
  deleteEntry,
  findEntry,
  lockByUserCode,
  setContent,
  upsertEntry,
  type OauthEntryRow,
} from './queries.ts'

export type Content = Readonly<Record<string, unknown>>

/** Something that the OAuth server remembers under a name, which is a secret for most kinds. */
export type OauthEntry = {
  readonly content: Content
  readonly createdAt: number
  readonly expiresAt: number | null
  readonly consumedAt: number | null
}

type Named = { readonly kind: string; readonly name: string }
type Tools = Pick<Deps, 'clock'> & { readonly db: Db }

const DEVICE = 'DeviceCode'

export async function storeEntry(
  { db, clock }: Tools,
  {
    kind,
    name,
    content,
    grantId,
    userCode,
    seconds,
  }: Named & { content: Content; grantId: string | null; userCode: string | null; seconds: number | null },
): Promise<void> {
  const now = clock.now()
  await upsertEntry(db, {
    kind,
    hash: hashCredential(name),
    content: JSON.stringify(content),
    grantId,
    userCodeHash: userCode === null ? null : hashCredential(userCode),
    now: new Date(now),
    expiresAt: seconds === null ? null : new Date(now + seconds * 1_000),
  })
}

export async function readEntry({ db }: Tools, { kind, name }: Named): Promise<OauthEntry | undefined> {
  const row = await findEntry(db, { kind, hash: hashCredential(name) })
  return row === undefined ? undefined : entryOf(row)
}

/** Uses an entry that works once; false: it was used before. */
export async function useEntry({ db, clock }: Tools, { kind, name }: Named): Promise<boolean> {
  return (await consumeEntry(db, { kind, hash: hashCredential(name), now: new Date(clock.now()) })) > 0
}

export function removeEntry({ db }: Tools, { kind, name }: Named): Promise<void> {
  return deleteEntry(db, { kind, hash: hashCredential(name) })
}

/** Removes the codes and tokens of a grant: of one kind, or of every kind. */
export function removeEntriesOf(
  { db }: { readonly db: Db },
  { grantId, kind }: { grantId: string; kind?: string },
): Promise<void> {
  return deleteEntriesOf(db, { grantId, kind: kind ?? null })
}

/** A request of a device that waits for a person. Inside a transaction it is locked. */
export type DeviceRequest = OauthEntry & {
  /** Stores the decision of the person. */
  decide(changed: Content, grantId: string | null): Promise<void>
}

export async function lockDeviceRequest({ db }: Tools, userCode: string): Promise<DeviceRequest | undefined> {
  const row = await lockByUserCode(db, hashCredential(userCode))
  if (row === undefined) return undefined
  const entry = entryOf(row)
  return {
    ...entry,
    decide: (changed, grantId) =>
      setContent(db, {
        kind: DEVICE,
        hash: row.hash,
        content: JSON.stringify({ ...entry.content, ...changed }),
        grantId,
      }),
  }
}

function entryOf({ content, created_at, expires_at, consumed_at }: OauthEntryRow): OauthEntry {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- storeEntry wrote it
  const parsed = JSON.parse(content) as Content
  return {
    content: parsed,
    createdAt: created_at.getTime(),
    expiresAt: expires_at?.getTime() ?? null,
    consumedAt: consumed_at?.getTime() ?? null,
  }
}
