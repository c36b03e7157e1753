import type { Client } from 'pg'
import { ForeignFailure } from '../../foreign-failure.ts'
import type { OutboundReach } from '../../outbound-reach.ts'
import { withPostgres } from '../postgres-client.ts'
import type { DatabasePlace } from '../types.ts'
import { replicationFailure } from './failure.ts'
import { lsnOf, lsnText } from './lsn.ts'
import { checkPublication, dropPublication, ensurePublication, publicationName } from './publication.ts'
import type { PublicationAsked } from './publication.ts'
import { checkKeys, publishedTables, tablesToPublish } from './published-tables.ts'
import { checkSlot, checkWalLevel, createSlot, dropSlot, findSlot, systemOf, type SlotFound } from './slot.ts'
import type { Replication, ReplicationEvents } from './stream.ts'

export type { TableName } from './publication.ts'
export type { SlotFound } from './slot.ts'
export type { Replication, ReplicationEvents, ReplicationMessage } from './stream.ts'
export type { Key, Snapshot } from './snapshot.ts'
export { lsnOf, lsnText } from './lsn.ts'
export { byTable, tableText } from './published-tables.ts'
export { keysAfter, keysOfTables, openSnapshot } from './snapshot.ts'

/** The database, the slot and the changes of a replication. */
export type ReplicationPlan = {
  readonly place: DatabasePlace
  readonly slot: string
  /** This server has created the slot, and drops it. */
  readonly ownsSlot: boolean
  readonly publication: PublicationAsked
  /** The source copies the existing rows first. */
  readonly snapshot: boolean
}
type At = { readonly reach: OutboundReach; readonly plan: ReplicationPlan; readonly signal: AbortSignal }

/** The last stored position, and the installation of PostgreSQL that it belongs to. */
export type Stored = { readonly system: string; readonly lsn: bigint }

/**
 * Checks everything, and makes the publication and the slot if they are missing. If `stored` is null, the source starts
 * with the changes after now. The result is the position that the slot reads from. It never hides a gap: a slot that is
 * lost, or that another program has moved, is a failure.
 */
export function prepareReplication({ reach, plan, signal, stored }: At & { stored: Stored | null }): Promise<Stored> {
  const { place, slot } = plan
  return asFailure(() =>
    withPostgres({ reach, place, signal, replication: true }, async (client) => {
      await checkWalLevel(client)
      const system = await systemOf(client)
      if (stored !== null && stored.system !== system) throw anotherDatabase(stored)
      await ensurePublication(client, plan.publication)
      await checkCopy(client, { plan, isFirstRun: stored === null })
      const found = await findSlot(client, slot)
      if (plan.ownsSlot && stored === null) {
        // A slot that already exists was created by a run that died before it stored a position.
        if (found !== undefined) await dropSlot(client, slot)
        return { system, lsn: (await createSlot(client, slot)) - 1n }
      }
      if (found === undefined) throw stored === null ? noSlot(slot) : lostSlot(slot, stored)
      checkSlot({ slot, database: place.database }, found)
      const lsn = lsnOf(found.confirmed_flush_lsn ?? '0/1') - 1n
      if (stored !== null && lsn > stored.lsn) throw movedSlot(slot, { from: stored.lsn, to: lsn })
      return { system, lsn }
    }),
  )
}

async function checkCopy(
  client: Client,
  { plan, isFirstRun }: { readonly plan: ReplicationPlan; readonly isFirstRun: boolean },
): Promise<void> {
  if (plan.snapshot && isFirstRun) checkKeys(await publishedTables(client, plan.publication))
}

/** The checks of `prepareReplication`; it creates nothing. */
export function checkReplication({ reach, plan, signal }: At): Promise<void> {
  const { place, slot } = plan
  return asFailure(() =>
    withPostgres({ reach, place, signal, replication: true }, async (client) => {
      await checkWalLevel(client)
      await checkPublication(client, plan.publication)
      if (plan.snapshot) checkKeys(await tablesToPublish(client, plan.publication))
      if (plan.ownsSlot) return
      const found = await findSlot(client, slot)
      if (found === undefined) throw noSlot(slot)
      checkSlot({ slot, database: place.database }, found)
    }),
  )
}

/** Looks at the slot with a separate connection; undefined: it does not exist. */
export function lookAtSlot({ reach, plan, signal }: At): Promise<SlotFound | undefined> {
  const { place, slot } = plan
  return asFailure(() => withPostgres({ reach, place, signal }, (client) => findSlot(client, slot)))
}

/** Drops the slot and the publication that this server has created. */
export function dropReplication({ reach, plan, signal }: At): Promise<void> {
  const { place, slot, publication } = plan
  return asFailure(() =>
    withPostgres({ reach, place, signal }, async (client) => {
      if (plan.ownsSlot) await dropSlot(client, slot)
      if ('own' in publication) await dropPublication(client, publication.own)
    }),
  )
}

/** Reads the slot from `stored` on. */
export function openSlot({
  reach,
  plan,
  signal,
  ...asked
}: At & { stored: bigint } & ReplicationEvents): Promise<Replication> {
  const { place, slot, publication } = plan
  return asFailure(async () => {
    // The client of the protocol is loaded with the first slot.
    const { openReplication } = await import('./stream.ts')
    return openReplication(
      { reach, place, slot, publication: publicationName(publication), stored: asked.stored, signal },
      asked,
    )
  })
}

async function asFailure<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw replicationFailure(error)
  }
}

export { replicationFailure } from './failure.ts'

const anotherDatabase = ({ lsn }: Stored): ForeignFailure =>
  new ForeignFailure(
    'another_database',
    `This is a different PostgreSQL installation than the one whose changes are stored up to ${lsnText(lsn)}, so the position is not valid here. Correct the connection string, or send restart: true to start with new changes. A slot in the previous database stays there; drop it.`,
  )

const noSlot = (slot: string): ForeignFailure =>
  new ForeignFailure(
    'no_slot',
    `The replication slot ${slot} does not exist. Create it with select pg_create_logical_replication_slot('${slot}', 'pgoutput'), or leave slot out, so that Postroad creates one.`,
  )

const lostSlot = (slot: string, { lsn }: Stored): ForeignFailure =>
  new ForeignFailure(
    'slot_lost',
    `The replication slot ${slot} no longer exists, so the changes after ${lsnText(lsn)} are lost here. Copy what you need from the tables, then send restart: true to start with new changes.`,
  )

const movedSlot = (slot: string, { from, to }: { from: bigint; to: bigint }): ForeignFailure =>
  new ForeignFailure(
    'slot_moved',
    `Another program has read the replication slot ${slot}, so the changes between ${lsnText(from)} and ${lsnText(to)} are lost here. End that program, copy what you need from the tables, then send restart: true.`,
  )
