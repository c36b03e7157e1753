import { BLOCK_RECORDS, placesOf } from '../../../domain/capture/search-index/block.ts'
import type { Probe } from '../../../domain/capture/search-index/probes.ts'
import type { Db } from '../../../platform/db.ts'
import { findBlockIds, listBlocks, listIdsAt, type BlockRow } from './queries.ts'

type At = { readonly workspaceId: string; readonly projectId: string }

/** The most blocks that one piece of a search reads. */
const BLOCKS_AT_ONCE = 128
/** A list of values has thousands of terms, so a piece is also limited by the bytes that it reads of its blocks. */
const READ_BYTES_MAX = 16_777_216
const ROW_BYTES = BLOCK_RECORDS / 8
const ID_BYTES = 16

const blocksAtOnce = (terms: number): number =>
  Math.max(1, Math.min(BLOCKS_AT_ONCE, Math.floor(READ_BYTES_MAX / (terms * ROW_BYTES))))

export type Candidates = {
  /** Records that may match, newest first, and the number of records from the start of the piece to each of them. */
  readonly ids: readonly string[]
  readonly passed: readonly number[]
  /** Every older record that may match comes after this id; null: there is none. */
  readonly reached: string | null
  /** The number of records in the piece. */
  readonly scanned: number
}

type Hit = { readonly block: BlockRow; readonly place: number; readonly passed: number }
type Wanted = At & {
  readonly probes: readonly Probe[]
  readonly after: string | null
  readonly before: string
  readonly limit: number
}

/** The next records in blocks that may match the probes. */
export async function findCandidates(db: Db, at: Wanted): Promise<Candidates> {
  const terms = at.probes.flatMap(({ any }) => any.flat())
  const blocksMax = blocksAtOnce(terms.length)
  const blocks = await listBlocks(db, { ...at, terms, limit: blocksMax })
  const { hits, scanned } = await hitsIn(db, { ...at, blocks })
  const taken = hits.slice(0, at.limit)
  const ids = await listIdsAt(db, {
    ...at,
    blocks: taken.map(({ block }) => block.id),
    places: taken.map(({ place }) => place),
  })
  const passed = taken.map((hit) => hit.passed)
  const last = taken.at(-1)
  if (hits.length > taken.length && last !== undefined)
    return { ids, passed, reached: ids.at(-1) ?? last.block.first_id, scanned: last.passed }
  const oldest = blocks.length < blocksMax ? undefined : blocks.at(-1)
  return { ids, passed, reached: oldest?.first_id ?? null, scanned }
}

/** The hits in these blocks, one more than the limit at most, and the number of records up to the last block that was needed. */
async function hitsIn(
  db: Db,
  { blocks, ...at }: Wanted & { readonly blocks: readonly BlockRow[] },
): Promise<{ readonly hits: readonly Hit[]; readonly scanned: number }> {
  const hits: Hit[] = []
  let scanned = 0
  for (const block of blocks) {
    // oxlint-disable-next-line no-await-in-loop -- only the first block contains the bound
    const end = block.id < at.before ? block.records : await placeOf(db, { ...at, block })
    const places = placesOf(at.probes, block).filter((place) => place < end)
    for (const place of places.slice(0, at.limit + 1 - hits.length))
      hits.push({ block, place, passed: scanned + end - place })
    scanned += end
    if (hits.length > at.limit) break
  }
  return { hits, scanned }
}

/** The number of records of a block before an id. */
async function placeOf(db: Db, { block, before, ...at }: At & { block: BlockRow; before: string }): Promise<number> {
  const ids = await findBlockIds(db, { ...at, id: block.id })
  if (ids === undefined) return 0
  const bound = Buffer.from(before.replaceAll('-', ''), 'hex')
  let [low, high] = [0, block.records]
  while (low < high) {
    const middle = (low + high) >> 1
    if (ids.compare(bound, 0, ID_BYTES, middle * ID_BYTES, (middle + 1) * ID_BYTES) < 0) low = middle + 1
    else high = middle
  }
  return low
}
