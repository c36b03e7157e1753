import { encodeId } from '@postroad/contract'
import type { DestinationFact } from './evidence.ts'
import { waitingLanes } from './queries.ts'
import type { Conduct, Sink, Trust } from './sink.ts'
import type { Stage } from './stage.ts'

/** A destination that a scenario needs, and the behavior of its receiver. */
export type Receiver = {
  readonly name: string
  readonly datasets: readonly string[] | null
  readonly maxInFlight: number
  readonly scheme: Trust['scheme']
  readonly scheduleSeconds?: readonly number[]
  /** How long it may take to answer, in ms. Defaults to 5 s. */
  readonly timeoutMs?: number
  /** The maximum of requests per second. */
  readonly ratePerSecond?: number
  /** A name that leads to the sink, instead of its address. */
  readonly host?: string
  readonly conduct: () => Conduct
}

const TIMEOUT_MS = 5_000

/** Creates the destinations through the admin API, and gives the sink their secrets so that it can check signatures. */
export function createDestinations(
  { stage, sink }: { stage: Stage; sink: Sink },
  wanted: readonly Receiver[],
): Promise<readonly DestinationFact[]> {
  return Promise.all(
    wanted.map(
      async ({
        name,
        datasets,
        maxInFlight,
        scheme,
        scheduleSeconds = null,
        timeoutMs = TIMEOUT_MS,
        ratePerSecond,
        host,
        conduct,
      }) => {
        const made = await stage.admin('POST', 'destinations', {
          name,
          url: sink.url(name, host),
          datasets,
          max_in_flight: maxInFlight,
          timeout_ms: timeoutMs,
          rate_limit: ratePerSecond === undefined ? null : { count: ratePerSecond, per: 'second' },
          signing: { header: scheme },
          retry: { schedule_seconds: scheduleSeconds },
        })
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the contract's answer to a created destination
        const { destination, signing_secret: secret } = made as { destination: { id: string }; signing_secret: string }
        sink.trust(name, { secret, scheme })
        sink.conduct(name, conduct)
        return { id: destination.id, name, datasets, maxInFlight }
      },
    ),
  )
}

/** The destinations whose breakers are open according to the rows. */
export async function findOpenBreakers(
  stage: Stage,
): Promise<readonly { readonly id: string; readonly waitsUntil: number }[]> {
  const database = stage.openDatabase()
  try {
    const rows = await waitingLanes(database, { workspaceId: stage.workspaceId })
    return rows.map((row) => ({
      id: encodeId('destination', row.destination_id),
      waitsUntil: row.waits_until.getTime(),
    }))
  } finally {
    await database.close()
  }
}

/**
 * Closes the breakers without waiting for the next probe, as a person does who knows that a receiver works again: turns
 * the destinations off and on.
 */
export async function closeBreakers(stage: Stage, destinations: readonly { readonly id: string }[]): Promise<void> {
  for (const { id } of destinations) {
    for (const enabled of [false, true]) {
      // oxlint-disable-next-line no-await-in-loop -- in this order
      await stage.admin('PATCH', `destinations/${id}`, { enabled })
    }
  }
}
