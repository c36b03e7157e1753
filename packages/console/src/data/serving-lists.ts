import type { RouteAnswer, Routes } from '@postroad/contract'
import type { UseQueryResult } from '@tanstack/react-query'
import { useAsk } from './ask.ts'
import { every } from './lists.ts'

export type Dataset = RouteAnswer<Routes['datasets']['list']>['datasets'][number]
export type DataKey = RouteAnswer<Routes['dataKeys']['list']>['data_keys'][number]
export type Forwarder = RouteAnswer<Routes['forwarders']['list']>['forwarders'][number]

const PAGE = { limit: 200 } as const
const LIVE_MS = 10_000

export function useAllDatasets(): UseQueryResult<readonly Dataset[]> {
  return useAsk(['datasets', 'all'], (client, signal) => every(client.datasets.list(PAGE, { signal })), {
    everyMs: LIVE_MS,
  })
}

export function useAllDataKeys(): UseQueryResult<readonly DataKey[]> {
  return useAsk(['dataKeys', 'all'], (client, signal) => every(client.dataKeys.list(PAGE, { signal })))
}

/** The list is read periodically, because positions move without a change by a person. */
export function useAllForwarders(): UseQueryResult<readonly Forwarder[]> {
  return useAsk(['forwarders', 'all'], (client, signal) => every(client.forwarders.list(PAGE, { signal })), {
    everyMs: LIVE_MS,
  })
}
