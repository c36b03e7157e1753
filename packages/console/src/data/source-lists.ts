import type { RouteAnswer, Routes } from '@postroad/contract'
import type { UseQueryResult } from '@tanstack/react-query'
import { useAsk } from './ask.ts'
import { every } from './lists.ts'

export type Source = RouteAnswer<Routes['sources']['list']>['sources'][number]
export type CronTrigger = RouteAnswer<Routes['cronTriggers']['list']>['cron_triggers'][number]
export type WsTrigger = RouteAnswer<Routes['wsTriggers']['list']>['ws_triggers'][number]

/** Something that makes events without a sender. The three kinds of the API are one list here. */
export type Origin =
  | { readonly of: 'source'; readonly id: string; readonly name: string; readonly row: Source }
  | { readonly of: 'cron'; readonly id: string; readonly name: string; readonly row: CronTrigger }
  | { readonly of: 'ws'; readonly id: string; readonly name: string; readonly row: WsTrigger }

const PAGE = { limit: 200 } as const
const LIVE_MS = 10_000

/** Every source, cron trigger and WebSocket trigger of the project, newest first. */
export function useAllOrigins(): UseQueryResult<readonly Origin[]> {
  return useAsk(
    ['sources', 'all'],
    async (client, signal) => {
      const [sources, crons, sockets] = await Promise.all([
        every(client.sources.list(PAGE, { signal })),
        every(client.cronTriggers.list(PAGE, { signal })),
        every(client.wsTriggers.list(PAGE, { signal })),
      ])
      const origins: readonly Origin[] = [
        ...sources.map((row): Origin => ({ of: 'source', id: row.id, name: row.name, row })),
        ...crons.map((row): Origin => ({ of: 'cron', id: row.id, name: row.name, row })),
        ...sockets.map((row): Origin => ({ of: 'ws', id: row.id, name: row.name, row })),
      ]
      return origins.toSorted((a, b) => (a.row.created_at < b.row.created_at ? 1 : -1))
    },
    { everyMs: LIVE_MS },
  )
}
