import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { useEffect, useMemo, useState, type ReactElement } from 'react'
import { PortalContext, type Portal } from '../data/portal.ts'
import type { Me, Server } from '../data/server.ts'
import { ended, type Session } from '../data/session.ts'
import { useOnline } from './online.ts'
import { OFFLINE, SUSPENDED } from './texts.ts'
import { Views } from './views.tsx'

const FRESH_MS = 5_000
/** The customer, the looks and a suspension are looked up again this often. */
const ME_EVERY_MS = 60_000

/** An entered portal. A request that is refused because the access ended ends it here. */
export function Inside({
  me: first,
  server,
  onEnd,
}: {
  readonly me: Me
  readonly server: Server
  readonly onEnd: (session: Session) => void
}): ReactElement {
  const [me, setMe] = useState(first)
  const online = useOnline()
  const asking = useMemo(() => createAsking(), [])
  useEffect(() => {
    const look = (error: unknown): void => {
      const session = ended(error)
      if (session !== undefined) onEnd(session)
    }
    const stops = [
      asking.getQueryCache().subscribe(({ query }) => look(query.state.error)),
      asking.getMutationCache().subscribe(({ mutation }) => look(mutation?.state.error)),
    ]
    return () => {
      for (const stop of stops) stop()
    }
  }, [asking, onEnd])
  useEffect(() => {
    const look = (): void => {
      server.me().then(setMe, (error: unknown) => {
        const session = ended(error)
        if (session !== undefined) onEnd(session)
      })
    }
    const timer = setInterval(look, ME_EVERY_MS)
    addEventListener('focus', look)
    return () => {
      clearInterval(timer)
      removeEventListener('focus', look)
    }
  }, [server, onEnd])
  const portal = useMemo<Portal>(
    () => ({
      server,
      me,
      refused: online ? (me.suspended ? SUSPENDED : undefined) : OFFLINE,
    }),
    [server, me, online],
  )
  return (
    <QueryClientProvider client={asking}>
      <PortalContext value={portal}>
        <Views online={online} />
      </PortalContext>
    </QueryClientProvider>
  )
}

/** `always`: a request without a connection fails with a sentence. Otherwise it would wait in silence. */
function createAsking(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: { staleTime: FRESH_MS, retry: false, networkMode: 'always', refetchOnWindowFocus: true },
      mutations: { retry: false, networkMode: 'always' },
    },
  })
}
