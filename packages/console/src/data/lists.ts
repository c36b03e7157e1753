import type { UseQueryResult } from '@tanstack/react-query'
import type { RouteAnswer, Routes } from '@postroad/contract'
import { useAsk } from './ask.ts'

export type Destination = RouteAnswer<Routes['destinations']['list']>['destinations'][number]
export type Webhook = RouteAnswer<Routes['webhooks']['list']>['webhooks'][number]
export type IngestKey = RouteAnswer<Routes['ingestKeys']['list']>['ingest_keys'][number]
export type Rule = RouteAnswer<Routes['rules']['list']>['rules'][number]

/** Whole lists of the things that people set up. All parts of the page share the list that was read. */
const PAGE = { limit: 200 } as const

/** A breaker opens without a change by a person. */
const LIGHTS_MS = 10_000

/** Every item of a list, page after page. */
async function every<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

export function useAllWebhooks(): UseQueryResult<readonly Webhook[]> {
  return useAsk(['webhooks', 'all'], (client, signal) => every(client.webhooks.list(PAGE, { signal })))
}

export function useAllDestinations(): UseQueryResult<readonly Destination[]> {
  return useAsk(['destinations', 'all'], (client, signal) => every(client.destinations.list(PAGE, { signal })), {
    everyMs: LIGHTS_MS,
  })
}

export function useAllIngestKeys(): UseQueryResult<readonly IngestKey[]> {
  return useAsk(['ingestKeys', 'all'], (client, signal) => every(client.ingestKeys.list(PAGE, { signal })))
}

export function useAllRules(): UseQueryResult<readonly Rule[]> {
  return useAsk(['rules', 'all'], (client, signal) => every(client.rules.list(PAGE, { signal })))
}
