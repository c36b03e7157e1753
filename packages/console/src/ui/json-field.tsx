import { lazy, Suspense, type ReactElement } from 'react'
import type { JsonFieldProps } from './json-editor.tsx'
import { loaded } from './loaded.ts'

const JsonEditor = lazy(() => loaded(() => import('./json-editor.tsx')))

/** A field for JSON, with colors, matching brackets and the place of an error. Its code is loaded when the first one is shown. */
export function JsonField(props: JsonFieldProps): ReactElement {
  const { label, value, hint, rows } = props
  return (
    <div className="mb-3.5">
      <span className="mb-1 block font-control" aria-hidden>
        {label}
      </span>
      <Suspense
        fallback={
          <pre
            aria-busy
            style={{ height: rows * 20 + 18 }}
            className="mono overflow-hidden rounded-field border border-line-2 px-9 py-2 text-data"
          >
            {value}
          </pre>
        }
      >
        <JsonEditor {...props} />
      </Suspense>
      {hint !== undefined && (
        <p aria-live="polite" className="mt-1 text-data text-ink-3">
          {hint}
        </p>
      )}
    </div>
  )
}
