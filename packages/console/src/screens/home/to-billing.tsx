import { ServiceError } from '@postroad/sdk'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, type ReactElement } from 'react'
import { clientOf } from '../../data/client.ts'
import { Loading, Refused } from '../../ui/states.tsx'

/** `/settings/billing`, the address in refusals and in emails: goes on to the billing of the workspace that is open. */
export function ToBilling(): ReactElement {
  const navigate = useNavigate()
  const me = useQuery({ queryKey: ['to-billing'], gcTime: 0, queryFn: () => clientOf().me.get() })
  const signedOut = me.error instanceof ServiceError && me.error.status === 401
  useEffect(() => {
    if (signedOut) location.replace(`/sign-in?next=${encodeURIComponent(location.pathname + location.search)}`)
    if (me.data === undefined) return
    const { workspace, default_project } = me.data
    const paid = new URLSearchParams(location.search).get('paid')
    const search = paid === null ? {} : { paid }
    void navigate({ to: `/${workspace.slug}/${default_project.slug}/billing`, search, replace: true })
  }, [signedOut, me.data, navigate])
  return (
    <main className="m-2 h-[calc(100%-16px)] rounded-page border border-line bg-surface">
      {me.error !== null && !signedOut ? <Refused error={me.error} again={me.refetch} /> : <Loading />}
    </main>
  )
}
