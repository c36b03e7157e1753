import type { ReactElement } from 'react'

const OPEN_CHARS = 600
const ONE_LINE_CHARS = 100

/** A value under a step: text as it is, and anything else as JSON. A long one is folded. */
export function StepValue({ label, value }: { readonly label: string; readonly value: unknown }): ReactElement {
  const text = typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? 'null')
  const short = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'null')
  const inside = (
    <pre
      tabIndex={0}
      aria-label={label}
      className="mono max-h-56 overflow-auto rounded-field bg-sunken px-2.5 py-1.5 text-data break-all whitespace-pre-wrap"
    >
      {short.length <= ONE_LINE_CHARS ? short : text}
    </pre>
  )
  if (text.length <= OPEN_CHARS)
    return (
      <div className="mt-1">
        <span className="text-meta text-ink-3">{label}</span>
        {inside}
      </div>
    )
  return (
    <details className="mt-1">
      <summary className="flex min-h-6 cursor-default items-center text-meta text-ink-3">
        {label}, {text.length.toLocaleString('en')} characters
      </summary>
      {inside}
    </details>
  )
}
