import {
  useMutation,
  useQuery,
  useQueryClient,
  type UseMutationResult,
  type UseQueryResult,
} from '@tanstack/react-query'
import { createContext, useContext } from 'react'
import type { Me, Server } from './server.ts'

/** The open portal: its server, its customer, and the sentence why nothing can be changed now. */
export type Portal = { readonly server: Server; readonly me: Me; readonly refused: string | undefined }

export const PortalContext = createContext<Portal | undefined>(undefined)

export function usePortal(): Portal {
  const portal = useContext(PortalContext)
  if (portal === undefined) throw new Error('Use this hook inside an open portal.')
  return portal
}

type Options = { readonly everyMs?: number; readonly enabled?: boolean }

/** Reads something. A change of the first word of the key reads it again. */
export function useAsk<T>(
  key: readonly unknown[],
  ask: (server: Server, signal: AbortSignal) => Promise<T>,
  { everyMs, enabled = true }: Options = {},
): UseQueryResult<T> {
  const { server } = usePortal()
  return useQuery({
    queryKey: key,
    queryFn: ({ signal }) => ask(server, signal),
    enabled,
    ...(everyMs === undefined ? {} : { refetchInterval: everyMs }),
  })
}

/** Changes something, then reads what it changed again. */
export function useChange<Input, T>(
  rooms: readonly string[],
  change: (server: Server, input: Input) => Promise<T>,
): UseMutationResult<T, Error, Input> {
  const { server } = usePortal()
  const asking = useQueryClient()
  return useMutation({
    mutationFn: (input: Input) => change(server, input),
    onSettled: () => Promise.all(rooms.map((room) => asking.invalidateQueries({ queryKey: [room] }))),
  })
}
