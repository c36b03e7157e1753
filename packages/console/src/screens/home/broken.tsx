import type { ReactElement } from 'react'
import { Button } from '../../ui/button.tsx'
import { Empty } from '../../ui/states.tsx'

/** A fault of the console itself, or a piece of it that could not be loaded. */
export function Broken({ error }: { readonly error: unknown }): ReactElement {
  return (
    <main className="m-2 h-[calc(100%-16px)] rounded-page border border-line bg-surface">
      <Empty
        alone
        title="This page could not be shown"
        actions={
          <Button kind="primary" onClick={() => location.reload()}>
            Load it again
          </Button>
        }
      >
        Nothing was changed. If it happens again, this is what to report:{' '}
        <code className="mono text-ink-2">{String(error).slice(0, 300)}</code>
      </Empty>
    </main>
  )
}
