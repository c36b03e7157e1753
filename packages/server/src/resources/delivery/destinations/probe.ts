import { encodeId } from '@postroad/contract'
import { refuse } from '../../../domain/refusal.ts'
import { inTransaction } from '../../../transaction.ts'
import { audit } from '../../workspace/audit/index.ts'
import { askProbe, presentBreaker } from '../lanes/index.ts'
import type { Room } from '../../verbs.ts'
import { makeOneDue } from './backlog/queries.ts'
import { presentDestination } from './present.ts'
import { findDestination } from './queries.ts'

/** Sends the next probe of an open breaker immediately. When no delivery is due, it makes the next one due. */
export const probe: Room<'destinations'>['probe'] = (ctx, { id }) =>
  inTransaction(ctx, async (tx) => {
    const held = await findDestination(tx.db, { ...tx, id, lock: true })
    if (held === undefined) throw refuse('not_found')
    const lane = { workspaceId: tx.workspaceId, destinationId: id }
    if (!held.enabled) throw refuse('invalid_state', OFF)
    const { state } = presentBreaker(held.lane)
    if (state !== 'open') throw refuse('invalid_state', state === 'half_open' ? UNDER_WAY : NOT_OPEN)
    if ((await makeOneDue(tx.db, { ...lane, now: new Date(tx.clock.now()) })) === 0)
      throw refuse('invalid_state', NOTHING_WAITS)
    await askProbe(tx.db, lane)
    await audit(tx, { action: 'probe_destination', target: encodeId('destination', id) })
    tx.afterCommit(() => tx.lanesChanged({ lanes: [lane], disabled: false }))
    const row = await findDestination(tx.db, { ...tx, id })
    if (row === undefined) throw refuse('not_found')
    return { destination: presentDestination(tx, row) }
  })

const OFF = 'This destination is off, so Postroad sends nothing to it. Turn it on, which closes its breaker.'
const UNDER_WAY = 'A probe of this destination is in progress. Wait until it ends.'
const NOT_OPEN = 'The breaker of this destination is not open, so there is nothing to probe. Send a test instead.'
const NOTHING_WAITS =
  'No delivery waits for this destination, so there is nothing to probe it with. Send a test instead. A test that succeeds closes the breaker.'
