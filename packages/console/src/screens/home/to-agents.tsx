import { ServiceError } from '@postroad/sdk'
import { useQuery } from '@tanstack/react-query'
import { useEffect, type ReactElement } from 'react'
import { clientOf } from '../../data/client.ts'
import { Loading, Refused } from '../../ui/states.tsx'

/** `/settings/agents`, the address in the refusals that agents get: opens the agent, in its workspace. */
export function ToAgents(): ReactElement {
  const at = useQuery({ queryKey: ['to-agents'], gcTime: 0, retry: false, queryFn: placeOfAgent })
  const signedOut = at.error instanceof ServiceError && at.error.status === 401
  useEffect(() => {
    if (signedOut) location.replace(`/sign-in?next=${encodeURIComponent(location.pathname + location.search)}`)
    // The page is loaded again, because everything that it has read can be of another workspace.
    if (at.data !== undefined) location.replace(at.data)
  }, [signedOut, at.data])
  return (
    <main className="m-2 h-[calc(100%-16px)] rounded-page border border-line bg-surface">
      {at.error !== null && !signedOut ? <Refused error={at.error} again={at.refetch} /> : <Loading />}
    </main>
  )
}

async function placeOfAgent(): Promise<string> {
  const asked = new URLSearchParams(location.search)
  const [workspace, agent] = [asked.get('workspace'), asked.get('agent')]
  const client = clientOf()
  let me = await client.me.get()
  if (workspace !== null && workspace !== me.workspace.id) {
    await client.workspaces.switch({ workspace_id: workspace })
    me = await client.me.get()
  }
  const search = agent === null ? '' : `?${new URLSearchParams({ sel: agent }).toString()}`
  return `/${me.workspace.slug}/${me.default_project.slug}/connected-agents${search}`
}
