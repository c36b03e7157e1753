import type { UseQueryResult } from '@tanstack/react-query'
import type { RouteAnswer, Routes } from '@postroad/contract'
import { useAsk } from './ask.ts'

export type Destination = RouteAnswer<Routes['destinations']['list']>['destinations'][number]
export type Webhook = RouteAnswer<Routes['webhooks']['list']>['webhooks'][number]
export type IngestKey = RouteAnswer<Routes['ingestKeys']['list']>['ingest_keys'][number]
export type Portal = RouteAnswer<Routes['portals']['list']>['portals'][number]
export type PortalCustomer = RouteAnswer<Routes['portalCustomers']['list']>['customers'][number]
export type Rule = RouteAnswer<Routes['rules']['list']>['rules'][number]
export type Transform = RouteAnswer<Routes['transforms']['list']>['transforms'][number]
export type Broadcast = RouteAnswer<Routes['broadcasts']['list']>['broadcasts'][number]
export type Member = RouteAnswer<Routes['members']['list']>['members'][number]
export type Invite = RouteAnswer<Routes['invites']['list']>['invites'][number]
export type ApiKey = RouteAnswer<Routes['apiKeys']['list']>['api_keys'][number]
export type Workspace = RouteAnswer<Routes['workspaces']['get']>['workspace']

/** Whole lists of the things that people set up. All parts of the page share one copy of each list. */
const PAGE = { limit: 200 } as const

/** A breaker opens without a change by a person. */
const LIGHTS_MS = 10_000

/** Every item of a list, page after page. */
export async function every<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

export function useAllTransforms(): UseQueryResult<readonly Transform[]> {
  return useAsk(['transforms', 'all'], (client, signal) => every(client.transforms.list(PAGE, { signal })))
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

export function useAllPortals(): UseQueryResult<readonly Portal[]> {
  return useAsk(['portals', 'all'], (client, signal) => every(client.portals.list(PAGE, { signal })))
}

/** Every member of the workspace. */
export function useAllMembers(options: { readonly enabled?: boolean } = {}): UseQueryResult<readonly Member[]> {
  return useAsk(['members', 'all'], (client, signal) => every(client.members.list(PAGE, { signal })), options)
}

/** The workspace with its plan, its members and the time of its deletion. */
export function useWorkspace(): UseQueryResult<Workspace> {
  return useAsk(
    ['workspaces', 'current'],
    async (client, signal) => (await client.workspaces.get(undefined, { signal })).workspace,
  )
}

/** Every API key, including those that have ended. */
export function useAllApiKeys(): UseQueryResult<readonly ApiKey[]> {
  return useAsk(['apiKeys', 'all'], (client, signal) => every(client.apiKeys.list(PAGE, { signal })))
}
