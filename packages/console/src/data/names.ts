import { destinationLight, endpointLight, type Light } from '@postroad/contract/lights'
import { useMemo } from 'react'
import {
  useAllDestinations,
  useAllIngestKeys,
  useAllRules,
  useAllWebhooks,
  type Destination,
  type Webhook,
} from './lists.ts'

const NONE: readonly never[] = []

/** The destinations of the project, and their names by id. The id of a deleted destination is its own name. */
export function useDestinations(): { readonly all: readonly Destination[]; readonly nameOf: (id: string) => string } {
  const { data = NONE } = useAllDestinations()
  return useMemo(() => ({ all: data, nameOf: namesIn(data) }), [data])
}

/** The same for the endpoints of the project. */
export function useWebhooks(): {
  readonly all: readonly Webhook[]
  readonly nameOf: (id: string) => string
  readonly isLoading: boolean
} {
  const { data = NONE, isPending } = useAllWebhooks()
  return useMemo(() => ({ all: data, nameOf: namesIn(data), isLoading: isPending }), [data, isPending])
}

export type Named = {
  readonly screen: string
  readonly kind: string
  readonly id: string
  readonly name: string
  /** The word of its light, unless it is on. */
  readonly light?: string
}

/** Everything in the project that has a name, with its screen. */
export function useNamed(): readonly Named[] {
  const webhooks = useWebhooks().all
  const destinations = useDestinations().all
  const { data: keys = NONE } = useAllIngestKeys()
  const { data: rules = NONE } = useAllRules()
  return useMemo(() => {
    const all: readonly (readonly [
      Pick<Named, 'screen' | 'kind'>,
      readonly { readonly id: string; readonly name: string; readonly light?: Light }[],
    ])[] = [
      [{ screen: 'endpoints', kind: 'endpoint' }, webhooks.map((row) => ({ ...row, light: endpointLight(row) }))],
      [{ screen: 'ingest-keys', kind: 'ingest key' }, keys],
      [{ screen: 'rules', kind: 'rule' }, rules],
      [
        { screen: 'destinations', kind: 'destination' },
        destinations.map((row) => ({ ...row, light: destinationLight(row) })),
      ],
    ]
    return all.flatMap(([where, of]) =>
      of.map(({ id, name, light }) =>
        light === undefined || light.tone === 'ok' ? { ...where, id, name } : { ...where, id, name, light: light.word },
      ),
    )
  }, [webhooks, destinations, keys, rules])
}

function namesIn(items: readonly { readonly id: string; readonly name: string }[]): (id: string) => string {
  const names = new Map(items.map(({ id, name }) => [id, name]))
  return (id) => names.get(id) ?? id
}
