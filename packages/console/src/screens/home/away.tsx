import { useQuery } from '@tanstack/react-query'
import type { ReactElement } from 'react'
import { Button } from '../../ui/button.tsx'
import { Empty } from '../../ui/states.tsx'

const EVERY_MS = 2_000
const PATIENCE_MS = 5_000
const RELOADED = 'postroad.reloaded'
/** A page that fails again this soon after a reload is missing on the server too. */
const AGAIN_MS = 15_000

/** `asking` lasts while the page reloads too. */
type Known = 'asking' | 'away' | 'missing'

/** Reloads the page once the server answers. */
async function comeBack(): Promise<Known> {
  if (!(await answers())) return 'away'
  const before = Number(sessionStorage.getItem(RELOADED) ?? 0)
  if (Date.now() - before < AGAIN_MS) return 'missing'
  sessionStorage.setItem(RELOADED, String(Date.now()))
  location.reload()
  return 'asking'
}

/** A page whose code could not be loaded. It opens when the server answers, also with a new version of the console. */
export function Away({ missing }: { readonly missing: ReactElement }): ReactElement | null {
  const { data: known = 'asking', refetch } = useQuery({
    queryKey: ['away'],
    queryFn: comeBack,
    refetchInterval: EVERY_MS,
    networkMode: 'always',
    gcTime: 0,
  })
  if (known === 'asking') return null
  if (known === 'missing') return missing
  return (
    <div role="status" className="h-full">
      <Empty
        alone
        title="The server is not responding"
        actions={
          <Button kind="primary" onClick={() => void refetch()}>
            Try now
          </Button>
        }
      >
        This page needs the server. It opens automatically when the server responds.
      </Empty>
    </div>
  )
}

async function answers(): Promise<boolean> {
  try {
    const response = await fetch('/healthz', { cache: 'no-store', signal: AbortSignal.timeout(PATIENCE_MS) })
    return response.ok
  } catch {
    return false
  }
}
