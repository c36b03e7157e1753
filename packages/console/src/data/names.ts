import { useMemo } from 'react'
import type { RouteAnswer, Routes } from '@postroad/contract'
import { useAsk } from './ask.ts'

export type Destination = RouteAnswer<Routes['destinations']['list']>['destinations'][number]
export type Webhook = RouteAnswer<Routes['webhooks']['list']>['webhooks'][number]

const NONE: readonly never[] = []

async function every<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

/** The destinations of the project, and their names by id; an id that is not there any more is its own name. */
export function useDestinations(): { readonly all: readonly Destination[]; readonly nameOf: (id: string) => string } {
  const { data = NONE } = useAsk(['destinations', 'all'], (client, signal) => every(client.destinations.list({ limit: 200 }, { signal })))
  return useMemo(() => ({ all: data, nameOf: namesIn(data) }), [data])
}

/** The endpoints of the project, likewise. */
export function useWebhooks(): { readonly all: readonly Webhook[]; readonly nameOf: (id: string) => string; readonly isLoading: boolean } {
  const { data = NONE, isPending } = useAsk(['webhooks', 'all'], (client, signal) => every(client.webhooks.list({ limit: 200 }, { signal })))
  return useMemo(() => ({ all: data, nameOf: namesIn(data), isLoading: isPending }), [data, isPending])
}

export type Named = { readonly screen: string; readonly kind: string; readonly id: string; readonly name: string }

/** Everything in the project that was set up and has a name, with the screen that it is on. */
export function useNamed(): readonly Named[] {
  const webhooks = useWebhooks().all
  const destinations = useDestinations().all
  const { data: keys = NONE } = useAsk(['ingestKeys', 'all'], (client, signal) => every(client.ingestKeys.list({ limit: 200 }, { signal })))
  const { data: rules = NONE } = useAsk(['rules', 'all'], (client, signal) => every(client.rules.list({ limit: 200 }, { signal })))
  return useMemo(() => {
    const all: readonly (readonly [Pick<Named, 'screen' | 'kind'>, readonly { readonly id: string; readonly name: string }[]])[] = [
      [{ screen: 'endpoints', kind: 'endpoint' }, webhooks],
      [{ screen: 'ingest-keys', kind: 'ingest key' }, keys],
      [{ screen: 'rules', kind: 'rule' }, rules],
      [{ screen: 'destinations', kind: 'destination' }, destinations],
    ]
    return all.flatMap(([where, of]) => of.map(({ id, name }) => ({ ...where, id, name })))
  }, [webhooks, destinations, keys, rules])
}

function namesIn(items: readonly { readonly id: string; readonly name: string }[]): (id: string) => string {
  const names = new Map(items.map(({ id, name }) => [id, name]))
  return (id) => names.get(id) ?? id
}
