import type { Deps, Platform } from '../context.ts'
import type { LanesChange } from '../features.ts'
import type { DeliveryLoop } from '../pipeline/deliver/run.ts'
import type { Directory } from '../pipeline/directory.ts'
import type { RecordsOf } from '../pipeline/store/announce-records.ts'
import type { Lane } from '../pipeline/store/announce.ts'
import type { WorkflowEngine } from '../pipeline/workflow/run.ts'
import type { Streams } from '../surfaces/stream/hub.ts'

/**
 * The channels on which the processes of one installation notify each other. A message is only a hint: a sweep makes up for a
 * lost one.
 */
export const CHANNELS = {
  config: 'postroad_config',
  lanes: 'postroad_lanes',
  changes: 'postroad_changes',
  offers: 'postroad_offers',
  records: 'postroad_records',
  starts: 'postroad_starts',
} as const

/** The loop is undefined in a process that does not deliver. */
type Listeners = {
  readonly directory: Directory
  readonly streams: Streams
  readonly loop: DeliveryLoop | undefined
  /** Undefined in a process without the role `work`. */
  readonly engine: WorkflowEngine | undefined
}

/** Publishes changes that rooms make: in this process immediately, in the others soon. */
export function createNotifications(
  platform: Platform,
  listeners: () => Listeners,
): Pick<Deps, 'configChanged' | 'lanesChanged' | 'instancesDue'> {
  const { wakeups } = platform
  return {
    configChanged: (projectId) => {
      listeners().directory.forget(projectId)
      wakeups.tell(CHANNELS.config, projectId)
    },
    lanesChanged: (change) => {
      endConnections(platform, change)
      listeners().loop?.changed(change.lanes, change.disabled)
      wakeups.tell(CHANNELS.changes, JSON.stringify(change))
    },
    instancesDue: () => {
      listeners().engine?.hint('instances')
      wakeups.tell(CHANNELS.starts, JSON.stringify(['instances']))
    },
  }
}

/** Any process may have connections of a destination, because each sends tests. */
function endConnections(platform: Platform, { lanes, disabled, deleted }: LanesChange): void {
  const { links, outbound, customersOutbound } = platform
  const ids = lanes.map(({ destinationId }) => destinationId)
  if (deleted === true) for (const client of [links, outbound, customersOutbound]) client.cut(ids)
  else if (disabled) links.retire(ids)
}

/** Offers lanes that this process has given back because it owns more than its share. */
export function offerLanes(wakeups: Platform['wakeups']): (lanes: readonly Lane[]) => void {
  return (lanes) => wakeups.tell(CHANNELS.offers, JSON.stringify(lanes))
}

/** Wakes the senders of these lanes: in this process immediately, in the others soon. */
export function wakeLanes(
  wakeups: Platform['wakeups'],
  loop: () => DeliveryLoop | undefined,
): (lanes: readonly Lane[]) => void {
  return (lanes) => {
    loop()?.hint(lanes)
    wakeups.tell(CHANNELS.lanes, JSON.stringify(lanes))
  }
}

/** Listens to the other processes: changed settings, new work, changed destinations, and new records. */
export async function listen(deps: Deps, { directory, streams, loop, engine }: Listeners): Promise<void> {
  const { wakeups } = deps
  await wakeups.hear(CHANNELS.config, (projectId) => directory.forget(projectId))
  if (loop !== undefined) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- sent by announce and wakeLanes only
    await wakeups.hear(CHANNELS.lanes, (payload) => loop.hint(JSON.parse(payload) as readonly Lane[]))
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- sent by offerLanes only
    await wakeups.hear(CHANNELS.offers, (payload) => loop.offered(JSON.parse(payload) as readonly Lane[]))
  }
  await wakeups.hear(CHANNELS.changes, (payload) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- sent by lanesChanged only
    const change = JSON.parse(payload) as LanesChange
    endConnections(deps, change)
    loop?.changed(change.lanes, change.disabled)
  })
  if (engine !== undefined) await wakeups.hear(CHANNELS.starts, () => engine.hint('instances'))
  await wakeups.hear(CHANNELS.records, (payload) => {
    engine?.hint('records')
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- sent by announce only
    for (const of of JSON.parse(payload) as readonly RecordsOf[]) streams.committed(of)
  })
}
