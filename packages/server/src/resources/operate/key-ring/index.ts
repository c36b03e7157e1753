import { SEALED_COLUMNS, secretPlace, type SealedColumn } from '../../secret-place.ts'
import type { Cipher, KeyIds } from '../../../platform/cipher.ts'
import type { Db } from '../../../platform/db.ts'
import { countByKey, listSealedByOthers, replaceSealed, type KeyCount, type SealedRow } from './queries.ts'

export { countTransactionsSince, lockKeyFile } from './queries.ts'

/** Values that none of these keys has sealed. It reads the key ids after the count, as keys may arrive at any time. */
export async function sealedByOthers(db: Db, keyIds: () => KeyIds): Promise<readonly KeyCount[]> {
  const counts = await countByKey(db)
  const known: readonly string[] = keyIds()
  return counts.filter((row) => !known.includes(row.key_id))
}

/** The number of values, and the number that must still be sealed by the newest key. */
export async function countSealed(
  db: Db,
  cipher: Pick<Cipher, 'keyIds'>,
): Promise<{ readonly total: number; readonly waiting: number }> {
  const counts = await countByKey(db)
  const [newest] = cipher.keyIds()
  return { total: sum(counts), waiting: sum(counts.filter((row) => row.key_id !== newest)) }
}

const sum = (rows: readonly KeyCount[]): number => rows.reduce((all, row) => all + row.count, 0)

export type Resealed = {
  readonly resealed: number
  /** Places of values that cannot be opened, because they are damaged or sealed by an unknown key. */
  readonly unreadable: readonly string[]
}

type Parts = { readonly db: Db; readonly cipher: Cipher; readonly progress: (resealed: number) => void }
type Pass = { resealed: number; missed: number; readonly unreadable: Set<string> }

const BATCH = 100

/**
 * Seals every value with the newest key, one by one, beside running servers. It replaces a value only if the value has not
 * changed since the read. It ends when a pass finds no other value, so it can be interrupted and started again at any time.
 */
export async function resealAll(parts: Parts): Promise<Resealed> {
  const unreadable = new Set<string>()
  let resealed = 0
  for (;;) {
    const pass: Pass = { resealed: 0, missed: 0, unreadable }
    for (const column of SEALED_COLUMNS) {
      // oxlint-disable-next-line no-await-in-loop -- one value at a time, to spare the running server
      await resealColumn({ ...parts, progress: (count) => parts.progress(resealed + count) }, column, pass)
    }
    resealed += pass.resealed
    if (pass.resealed + pass.missed === 0) return { resealed, unreadable: [...unreadable] }
  }
}

async function resealColumn(parts: Parts, column: SealedColumn, pass: Pass): Promise<void> {
  const { db, cipher } = parts
  let after: SealedRow | undefined
  do {
    // oxlint-disable-next-line no-await-in-loop -- one batch after another
    const rows: readonly SealedRow[] = await listSealedByOthers(db, {
      column,
      keyId: cipher.keyIds()[0],
      after,
      limit: BATCH,
    })
    for (const row of rows) {
      // oxlint-disable-next-line no-await-in-loop -- as above
      await resealRow(parts, { column, row }, pass)
    }
    parts.progress(pass.resealed)
    after = rows.length < BATCH ? undefined : rows.at(-1)
  } while (after !== undefined)
}

async function resealRow(
  { db, cipher }: Parts,
  { column, row }: { column: SealedColumn; row: SealedRow },
  pass: Pass,
): Promise<void> {
  const place = secretPlace(column, row.id)
  if (pass.unreadable.has(place)) return
  const fresh = reseal(cipher, { sealed: row.sealed, place })
  if (fresh === undefined) pass.unreadable.add(place)
  else if ((await replaceSealed(db, { column, row, fresh })) > 0) pass.resealed += 1
  else pass.missed += 1
}

function reseal(cipher: Cipher, { sealed, place }: { sealed: Buffer; place: string }): Buffer | undefined {
  try {
    return cipher.seal(cipher.open(sealed, place).reveal(), place)
  } catch {
    return undefined
  }
}
