import type { Item } from './batch.ts'
import type { Exported } from './export.ts'

/** The outcome of a batch. `failed`: nothing may be committed. */
export type Sent =
  | { readonly kind: 'done'; readonly accepted: number; readonly refused: number; readonly text: string | null }
  | { readonly kind: 'failed'; readonly reason: string; readonly error: string; readonly waitMs: number }
  /** The claim is lost, or the forwarder must stop. */
  | { readonly kind: 'stopped' }

type Sending = {
  readonly items: readonly Item[]
  /** The receiver has accepted something with the present settings before. */
  readonly proven: boolean
  /** Sends one request; undefined: the run must end. */
  readonly request: (items: readonly Item[]) => Promise<Exported | undefined>
}

/** The most requests for one batch. If it needs more, later runs send smaller batches. */
const REQUESTS_MAX = 64

/** The counts of a batch so far. `unread`: refused items that the receiver cannot read. */
type Counts = { accepted: number; refused: number; unread: number; text: string | null }

/**
 * Sends a batch. If the receiver finds it too large, or cannot read it, it is split until the items at fault are alone.
 * Those are refused for good. A receiver that has accepted nothing yet is set up wrong, so no item is given up for it.
 */
export async function sendBatch({ items, proven, request }: Sending): Promise<Sent> {
  const counts: Counts = { accepted: 0, refused: 0, unread: 0, text: null }
  const waiting: (readonly Item[])[] = [items]
  for (let requests = 0; waiting.length > 0; requests += 1) {
    const part = waiting.shift() ?? []
    if (requests === REQUESTS_MAX) return failure(counts, 'The receiver refuses most of the data.')
    // oxlint-disable-next-line no-await-in-loop -- a part is split after the answer to it
    const result = await request(part)
    if (result === undefined) return { kind: 'stopped' }
    if (result.kind === 'failed') return result
    const again = count(counts, { part, result })
    waiting.unshift(...again)
  }
  const { accepted, unread, text } = counts
  if (unread > 0 && accepted === 0 && !proven) return failure(counts, 'The receiver cannot read the data.')
  const refused = counts.refused + unread
  return { kind: 'done', accepted, refused, text: refused > 0 ? text : null }
}

/** Returns the parts to send again. */
function count(
  counts: Counts,
  { part, result }: { part: readonly Item[]; result: Exclude<Exported, { kind: 'failed' }> },
): readonly (readonly Item[])[] {
  if (result.kind === 'accepted') {
    const rejected = Math.min(result.rejected, part.length)
    counts.accepted += part.length - rejected
    counts.refused += rejected
    counts.text = result.text ?? counts.text
    return []
  }
  counts.text = result.error
  if (part.length > 1) return halves(part)
  counts[result.kind === 'too_large' ? 'refused' : 'unread'] += 1
  return []
}

const failure = ({ text }: Counts, otherwise: string): Sent => ({
  kind: 'failed',
  reason: 'bad_status',
  error: text ?? otherwise,
  waitMs: 0,
})

function halves(part: readonly Item[]): readonly (readonly Item[])[] {
  const middle = Math.ceil(part.length / 2)
  return [part.slice(0, middle), part.slice(middle)]
}
