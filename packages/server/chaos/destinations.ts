import type { DestinationFact } from './evidence.ts'
import type { Conduct, Sink, Trust } from './sink.ts'
import type { Stage } from './stage.ts'

/** A destination that a scenario wants, and how its receiver behaves. */
export type Receiver = {
  readonly name: string
  readonly datasets: readonly string[] | null
  readonly maxInFlight: number
  readonly scheme: Trust['scheme']
  readonly scheduleSeconds?: readonly number[]
  readonly conduct: () => Conduct
}

const TIMEOUT_MS = 5_000

/** Makes the destinations through the admin API and tells the sink whose signatures to expect. */
export function createDestinations({ stage, sink }: { stage: Stage; sink: Sink }, wanted: readonly Receiver[]): Promise<readonly DestinationFact[]> {
  return Promise.all(
    wanted.map(async ({ name, datasets, maxInFlight, scheme, scheduleSeconds = null, conduct }) => {
      const made = await stage.admin('POST', 'destinations', {
        name,
        url: sink.url(name),
        datasets,
        max_in_flight: maxInFlight,
        timeout_ms: TIMEOUT_MS,
        signing: { header: scheme },
        retry: { schedule_seconds: scheduleSeconds },
      })
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the contract's answer to a created destination
      const { destination, signing_secret: secret } = made as { destination: { id: string }; signing_secret: string }
      sink.trust(name, { secret, scheme })
      sink.conduct(name, conduct)
      return { id: destination.id, name, datasets, maxInFlight }
    }),
  )
}
