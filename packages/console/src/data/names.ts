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

function namesIn(items: readonly { readonly id: string; readonly name: string }[]): (id: string) => string {
  const names = new Map(items.map(({ id, name }) => [id, name]))
  return (id) => names.get(id) ?? id
}
