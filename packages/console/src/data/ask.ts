import type { Client } from '@postroad/sdk'
import { ServiceError } from '@postroad/sdk/service-error'
import {
  keepPreviousData,
  useMutation,
  useQuery,
  useQueryClient,
  type UseMutationResult,
  type UseQueryResult,
} from '@tanstack/react-query'
import { clientOf } from './client.ts'
import { usePlace } from './place.ts'

type Ask<T> = (client: Client, signal: AbortSignal) => Promise<T>
type Options = { readonly enabled?: boolean; readonly everyMs?: number; readonly keep?: boolean }

/**
 * Reads data of the open project. The key starts with the room, such as `['deliveries', 'list', filter]`: a change
 * of that room reads it again. `keep` shows the previous answer until the next one arrives.
 */
export function useAsk<T>(
  key: readonly unknown[],
  ask: Ask<T>,
  { enabled = true, everyMs, keep = false }: Options = {},
): UseQueryResult<T> {
  const { project } = usePlace()
  return useQuery({
    queryKey: [project.id, ...key],
    queryFn: ({ signal }) => ask(clientOf(project.id), signal),
    enabled,
    ...(everyMs === undefined ? {} : { refetchInterval: readsEvery(everyMs) }),
    ...(keep ? { placeholderData: keepPreviousData } : {}),
  })
}

type Read = { readonly state: { readonly data: unknown; readonly error: Error | null } }

/**
 * The interval of a query that reads again by itself. After 429 it waits as long as the server asks. A forbidden first
 * read is not repeated, because the page would replace the refusal with "Loading" each time.
 */
export function readsEvery(ms: number): (query: Read) => number | false {
  return ({ state: { data, error } }) => {
    if (!(error instanceof ServiceError)) return ms
    if (error.status === 403 && data === undefined) return false
    return error.status === 429 ? Math.max(ms, (error.retryAfter ?? 0) * 1_000) : ms
  }
}

/** Changes something, then reads the data of the named rooms again. */
export function useChange<Input, T>(
  rooms: readonly string[],
  change: (client: Client, input: Input) => Promise<T>,
): UseMutationResult<T, Error, Input> {
  const { project } = usePlace()
  const asking = useQueryClient()
  return useMutation({
    mutationFn: (input: Input) => change(clientOf(project.id), input),
    onSettled: () => Promise.all(rooms.map((room) => asking.invalidateQueries({ queryKey: [project.id, room] }))),
  })
}
