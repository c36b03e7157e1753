import { CloudOff } from 'lucide-react'
import { useCallback, useEffect, useState, type ReactElement } from 'react'
import { Button } from '../../ui/button.tsx'
import { Empty } from '../../ui/states.tsx'

const EVERY_MS = 2_000
const PATIENCE_MS = 5_000
const RELOADED = 'postroad.reloaded'
/** A page that fails again so soon after it was loaded again is missing on the server too. */
const AGAIN_MS = 15_000

type Known = 'asking' | 'away' | 'missing'

/** A page whose code could not be loaded: it waits for the server and comes back by itself. A new version of the console is loaded at once. */
export function Away({ missing }: { readonly missing: ReactElement }): ReactElement | null {
  const [known, setKnown] = useState<Known>('asking')
  const look = useCallback(async () => {
    if (!(await answers())) return setKnown('away')
    const before = Number(sessionStorage.getItem(RELOADED) ?? 0)
    if (Date.now() - before < AGAIN_MS) return setKnown('missing')
    sessionStorage.setItem(RELOADED, String(Date.now()))
    location.reload()
  }, [])
  useEffect(() => {
    void look()
    const timer = setInterval(() => void look(), EVERY_MS)
    return () => clearInterval(timer)
  }, [look])
  if (known === 'asking') return null
  if (known === 'missing') return missing
  return (
    <div role="status" className="h-full">
      <Empty
        alone
        title="The server does not answer"
        actions={
          <Button kind="primary" onClick={() => void look()}>
            Try now
          </Button>
        }
      >
        <CloudOff className="mx-auto mb-2 size-5" strokeWidth={1.5} aria-hidden />
        This page needs the server. It opens by itself as soon as the server answers.
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
