import { QueryClient } from '@tanstack/react-query'

const FRESH_MS = 5_000

/**
 * The queries of the console. They repeat no request, because the client repeats each request that may be repeated. They
 * ask a browser without a network too: the server can be on the same machine, and otherwise the refusal says so.
 */
export function createAsking(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: FRESH_MS,
        retry: false,
        networkMode: 'always',
        refetchOnWindowFocus: true,
        refetchOnReconnect: true,
      },
      mutations: { retry: false, networkMode: 'always' },
    },
  })
}
