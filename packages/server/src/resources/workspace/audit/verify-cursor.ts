import type { Cipher } from '../../../platform/cipher.ts'
import { refuse } from '../../../domain/refusal.ts'
import type { Anchor } from '../../../domain/workspace/audit-chain.ts'
import { createSealedText } from '../../../platform/sealed-text.ts'
import type { AuditRow } from './queries.ts'

/** Where a verification continues. It is sealed, because a part that trusts another start would prove nothing. */

type Row = Pick<AuditRow, 'id' | 'at' | 'hash'>

/** A walk up to a row. `begun` is the anchor when the walk started. */
export type Place = {
  readonly begun: Anchor | undefined
  readonly last: Row | undefined
  readonly oldest: Row | undefined
  readonly count: number
}

type Of = { readonly cipher: Cipher; readonly workspaceId: string }
type StoredRow = readonly [id: string, at: string, hash: string]
type Stored = Pick<Place, 'begun' | 'count'> & {
  readonly workspace: string
  readonly last?: StoredRow
  readonly oldest?: StoredRow
}

const PURPOSE = 'audit_cursor'

export function sealCursor({ cipher, workspaceId }: Of, { begun, count, last, oldest }: Place): Promise<string> {
  const stored: Stored = {
    workspace: workspaceId,
    begun,
    count,
    ...(last === undefined ? {} : { last: rowText(last) }),
    ...(oldest === undefined ? {} : { oldest: rowText(oldest) }),
  }
  return createSealedText(cipher, PURPOSE).seal(JSON.stringify(stored))
}

export async function openCursor({ cipher, workspaceId }: Of, cursor: string): Promise<Place> {
  const opened = await createSealedText(cipher, PURPOSE).open(cursor)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- sealed by sealCursor only
  const stored = opened === undefined ? undefined : (JSON.parse(opened) as Stored)
  if (stored?.workspace !== workspaceId)
    throw refuse('invalid_request', 'The cursor is not valid; send next_cursor of the previous part unchanged.')
  const { begun, count, last, oldest } = stored
  return { begun, count, last: read(last), oldest: read(oldest) }
}

const rowText = ({ id, at, hash }: Row): StoredRow => [id, at.toISOString(), Buffer.from(hash).toString('hex')]

function read(row: StoredRow | undefined): Row | undefined {
  if (row === undefined) return undefined
  const [id, at, hash] = row
  return { id, at: new Date(at), hash: Buffer.from(hash, 'hex') }
}
