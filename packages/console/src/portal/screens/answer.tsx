import type { ReactElement } from 'react'
import type { Attempt } from '../data/server.ts'
import { CopyButton } from '../ui/copy.tsx'

/** The answer of the receiver: the reason of a failure, its headers and its body, as text. */
export function Answer({
  of: { outcome, error_detail, response_headers, response_body, response_truncated },
}: {
  readonly of: Pick<Attempt, 'outcome' | 'error_detail' | 'response_headers' | 'response_body' | 'response_truncated'>
}): ReactElement {
  return (
    <>
      {error_detail !== null && (
        <p className={`mb-3 break-words ${outcome === 'succeeded' ? 'text-ink-3' : 'text-fail'}`}>{error_detail}</p>
      )}
      {response_headers !== null && Object.keys(response_headers).length > 0 && (
        <details className="mb-2">
          <summary className="flex min-h-7 items-center gap-1.5 text-body text-ink-2">
            Response headers <span className="text-ink-3">{Object.keys(response_headers).length}</span>
          </summary>
          <Headers of={response_headers} />
        </details>
      )}
      {response_body !== null && response_body !== '' && <Text label="Response body">{response_body}</Text>}
      {response_body === '' && <p className="text-body text-ink-3">The response had no body.</p>}
      {response_truncated === true && (
        <p className="mt-1 text-body text-ink-3">Only the first 16 KiB of the response are stored.</p>
      )}
    </>
  )
}

export function Headers({ of }: { readonly of: Readonly<Record<string, string>> }): ReactElement {
  return (
    <dl className="mono py-1 text-data">
      {Object.entries(of).map(([name, value]) => (
        <div key={name} className="grid gap-x-4 py-0.5 sm:grid-cols-[minmax(120px,220px)_minmax(0,1fr)]">
          <dt className="break-all text-ink-3">{name}</dt>
          <dd className="break-all text-ink-2">{value}</dd>
        </div>
      ))}
    </dl>
  )
}

/** A text of the receiver, exactly as it arrived. */
export function Text({ label, children }: { readonly label: string; readonly children: string }): ReactElement {
  return (
    <div role="group" className="relative">
      <pre
        tabIndex={0}
        aria-label={label}
        role="region"
        className="mono max-h-72 min-h-14 overflow-auto rounded-field border border-line bg-sunken p-3 pr-24 text-data break-all whitespace-pre-wrap"
      >
        {children}
      </pre>
      <span className="absolute top-2 right-2">
        <CopyButton text={children} of={`the ${label.toLowerCase()}`} />
      </span>
    </div>
  )
}
