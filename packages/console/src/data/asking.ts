import { ServiceError } from '@postroad/sdk/service-error'
import { QueryClient } from '@tanstack/react-query'

const FRESH_MS = 5_000

/** How the console asks the server: the client tries again what may be tried again, so nothing else does. */
export function createAsking(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: FRESH_MS,
        // Nobody answered: the server is starting anew, or the network is away.
        retry: (failures, error) => failures < 2 && error instanceof ServiceError && error.status === 0,
        refetchOnWindowFocus: true,
      },
      mutations: { retry: false },
    },
  })
}
