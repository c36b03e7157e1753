import type { RouteAnswer, Routes } from '@postroad/contract'
import type { UseQueryResult } from '@tanstack/react-query'
import { useAsk } from '../../../data/ask.ts'

export type Schema = RouteAnswer<Routes['datasetSchemas']['get']>['schema']

const LIVE_MS = 15_000

/** The schema that Postroad learned, read again while the screen is open. */
export function useSchema(id: string): UseQueryResult<RouteAnswer<Routes['datasetSchemas']['get']>> {
  return useAsk(['datasets', 'schema', id], (client, signal) => client.datasetSchemas.get({ id }, { signal }), {
    everyMs: LIVE_MS,
  })
}
