import type { ReactElement } from 'react'

/** The paths into the request, where a person enters a path. An input names this list. */
export const REQUEST_PATHS = 'request-paths'

const PATHS = ['$request.headers.x-github-event', '$request.query.name', '$request.method', '$request.path']

/** Suggests the paths into the request, and says what they are. */
export function RequestPaths(): ReactElement {
  return (
    <p className="mb-2 text-meta text-ink-3">
      A path reads the payload, such as <code className="mono">data.amount</code>, or the request, such as{' '}
      <code className="mono">$request.headers.x-github-event</code>.
      <datalist id={REQUEST_PATHS}>
        {PATHS.map((path) => (
          <option key={path} value={path} />
        ))}
      </datalist>
    </p>
  )
}
