import { QueryClient } from '@tanstack/react-query'

const FRESH_MS = 5_000

/** How the console asks the server. The client repeats each request that may be repeated, so nothing else repeats one. */
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
