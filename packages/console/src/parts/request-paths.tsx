import type { ReactElement } from 'react'

/** Says which paths there are, where a person enters one. */
export function RequestPaths(): ReactElement {
  return (
    <p className="mb-2 text-meta text-ink-3">
      A path reads the payload, such as <code className="mono">data.amount</code>, or the request, such as{' '}
      <code className="mono">$request.headers.x-github-event</code>, <code className="mono">$request.query.tenant</code>
      , <code className="mono">$request.method</code> and <code className="mono">$request.path</code>.
    </p>
  )
}
