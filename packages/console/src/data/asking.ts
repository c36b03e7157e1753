import { ServiceError } from '@postroad/sdk/service-error'
import { QueryClient } from '@tanstack/react-query'

const FRESH_MS = 5_000

/** How the console asks the server. The client repeats each request that may be repeated, so nothing else repeats one. */
export function createAsking(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: FRESH_MS,
        // There was no answer: the server is restarting, or the network is down.
        retry: (failures, error) => failures < 2 && error instanceof ServiceError && error.status === 0,
        refetchOnWindowFocus: true,
      },
      mutations: { retry: false },
    },
  })
}
