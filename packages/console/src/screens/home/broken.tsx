import type { ReactElement } from 'react'
import { Button } from '../../ui/button.tsx'
import { NotLoaded } from '../../ui/loaded.ts'
import { Empty } from '../../ui/states.tsx'
import { Away } from './away.tsx'

/** A page that cannot be shown: the server does not answer, or the console has a bug. */
export function Broken({ error }: { readonly error: unknown }): ReactElement {
  return error instanceof NotLoaded ? <Away missing={<Bug error={error.cause} />} /> : <Bug error={error} />
}

function Bug({ error }: { readonly error: unknown }): ReactElement {
  return (
    <div className="m-2 h-[calc(100%-16px)] rounded-page border border-line bg-surface">
      <Empty
        alone
        title="This page could not be shown"
        actions={
          <Button kind="primary" onClick={() => location.reload()}>
            Reload the page
          </Button>
        }
      >
        Nothing was changed. If this happens again, report this error:{' '}
        <code className="mono text-ink-2">{String(error).slice(0, 300)}</code>
      </Empty>
    </div>
  )
}
