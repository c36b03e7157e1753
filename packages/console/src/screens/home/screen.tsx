import type { RouteAnswer, Routes } from '@postroad/contract'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useState, type ReactElement } from 'react'
import { callSession, clientOf } from '../../data/client.ts'
import { Loading, Refused } from '../../ui/states.tsx'
import { ServiceError } from '@postroad/sdk'
import { isWithoutWorkspace, NoWorkspace } from './no-workspace.tsx'

/** `/`: trades the token of a printed or mailed link for a session, and goes on to the first screen of the Default project. */
export function Home(): ReactElement {
  const [token] = useState(takeToken)
  const navigate = useNavigate()
  const me = useQuery({
    queryKey: ['home', token],
    gcTime: 0,
    queryFn: async () => {
      if (token !== undefined) {
        const over = await signInOnce(token).then(
          () => undefined,
          (error: unknown) => error,
        )
        if (over !== undefined) return whoeverIsIn(over)
      }
      return clientOf().me.get()
    },
  })
  const first = useFirstScreen(me.data?.default_project.id)
  const signedOut = me.error instanceof ServiceError && me.error.status === 401 && me.error.reason === 'unauthorized'
  useEffect(() => {
    if (signedOut) location.replace('/sign-in')
    if (me.data !== undefined && first !== undefined)
      void navigate({ to: `/${me.data.workspace.slug}/${me.data.default_project.slug}/${first}`, replace: true })
  }, [signedOut, me.data, first, navigate])
  return (
    <main className="m-2 h-[calc(100%-16px)] rounded-page border border-line bg-surface">
      {me.error === null || signedOut ? (
        <Loading />
      ) : isWithoutWorkspace(me.error) ? (
        <NoWorkspace />
      ) : (
        <Failed error={me.error} again={me.refetch} />
      )}
    </main>
  )
}

/** The overview with its map once the project has an event; until then the page that helps to send the first one. */
function useFirstScreen(projectId: string | undefined): 'overview' | 'events' | undefined {
  const { data, isError } = useQuery({
    queryKey: ['home', 'first', projectId],
    gcTime: 0,
    enabled: projectId !== undefined,
    queryFn: () => clientOf(projectId).submissions.list({ limit: 1 }),
  })
  if (isError) return 'events'
  return data === undefined ? undefined : data.submissions.length > 0 ? 'overview' : 'events'
}

/** Removes the token from the address bar first, so that it stays in no history. */
function takeToken(): string | undefined {
  const token = new URLSearchParams(location.hash.slice(1)).get('t') ?? undefined
  if (location.hash !== '') history.replaceState(null, '', location.pathname + location.search)
  return token
}

const asked = new Map<string, Promise<void>>()

/** A link works once, and React can render twice. */
function signInOnce(token: string): Promise<void> {
  const before = asked.get(token) ?? callSession('POST', { token })
  asked.set(token, before)
  return before
}

/** For a person who is signed in already, a used link simply opens the console. */
async function whoeverIsIn(over: unknown): Promise<RouteAnswer<Routes['me']['get']>> {
  if (!(over instanceof ServiceError) || over.reason !== 'link_over') throw over
  try {
    return await clientOf().me.get()
  } catch {
    throw over
  }
}

/** Only a link that has expired or was used needs another link. */
function Failed({ error, again }: { readonly error: Error; readonly again: () => unknown }): ReactElement {
  if (!(error instanceof ServiceError) || error.status !== 401) return <Refused error={error} again={again} />
  return (
    <div className="grid h-full grid-rows-[minmax(0,1fr)_auto] pb-16">
      <Refused error={error} />
      <p className="text-center text-ink-3">
        To get a new link, run <code className="mono text-ink-2">npx postroad sign-in-link</code> where the server runs,
        or{' '}
        <a className="text-accent underline" href="/sign-in">
          sign in another way
        </a>
        .
      </p>
    </div>
  )
}
