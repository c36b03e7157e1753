import { QueryClient } from '@tanstack/react-query'

const FRESH_MS = 5_000

/** The queries of the console. They repeat no request, because the client repeats each request that may be repeated. */
export function createAsking(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: FRESH_MS,
        retry: false,
        refetchOnWindowFocus: true,
      },
      mutations: { retry: false },
    },
  })
}
