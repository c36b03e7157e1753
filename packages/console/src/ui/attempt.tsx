import type { RouteAnswer, Routes } from '@postroad/contract'
import type { ReactElement, ReactNode } from 'react'
import { CopyButton } from './copy.tsx'
import { Time, took } from './time.tsx'

type Attempt = RouteAnswer<Routes['deliveries']['get']>['delivery']['attempts'][number]

/** One attempt: its time, its duration and the answer. */
export function AttemptPart({
  attempt,
  isOpen = false,
  children,
}: {
  readonly attempt: Attempt
  readonly isOpen?: boolean
  /** Below the answer. */
  readonly children?: ReactNode
}): ReactElement {
  const { number, trigger, started_at, duration_ms } = attempt
  return (
    <details className="group border-b border-line" open={isOpen}>
      <summary className="flex min-h-9 cursor-default flex-wrap items-center gap-x-3 px-5 outline-offset-[-2px] hover:bg-hover">
        <span className="mono text-meta text-ink-3">{number}</span>
        <AttemptOutcome of={attempt} />
        <Time at={started_at} />
        <span className="text-data text-ink-3">{trigger}</span>
        <span className="mono ml-auto text-meta text-ink-3">{took(duration_ms)}</span>
      </summary>
      <div className="px-5 pb-3">
        {attempt.response_status !== null && <h3 className="mb-1 font-strong">Response</h3>}
        <AttemptAnswer of={attempt} />
        {children}
      </div>
    </details>
  )
}

/** The status of the response, or the reason why there is none. */
export function AttemptOutcome({
  of: { outcome, response_status, error_code },
}: {
  readonly of: Attempt
}): ReactElement {
  return (
    <span
      className={`mono text-data font-control ${outcome === 'succeeded' ? 'text-ok-text' : outcome === null ? 'text-accent' : 'text-fail'}`}
    >
      {response_status ?? error_code?.replaceAll('_', ' ') ?? outcome ?? 'sending'}
    </span>
  )
}

/** The answer of the receiver: the reason of a failure, its headers and its body. */
export function AttemptAnswer({
  of: { outcome, error_detail, response_headers, response_body, response_truncated },
}: {
  readonly of: Attempt
}): ReactElement {
  return (
    <>
      {error_detail !== null && (
        <p className={`mb-2 ${outcome === 'succeeded' ? 'text-ink-3' : 'text-fail'}`}>{error_detail}</p>
      )}
      {response_headers !== null && <HeaderList of={response_headers} />}
      {response_body !== null && response_body !== '' && (
        <div className="relative mt-2">
          <pre
            tabIndex={0}
            className="mono max-h-60 overflow-auto rounded-field bg-sunken p-3 pr-10 text-data whitespace-pre-wrap break-all"
          >
            {indented(response_body)}
          </pre>
          <CopyButton
            text={response_body}
            label="Copy the response body"
            className="absolute top-2 right-2 bg-sunken"
          />
        </div>
      )}
      {response_truncated === true && (
        <p className="mt-1 text-data text-ink-3">Only the first 16 KiB of the response are stored.</p>
      )}
      {response_body === '' && <p className="text-data text-ink-3">The response had no body.</p>}
    </>
  )
}

/** Indents JSON. Returns the text unchanged if indenting would change a value, such as a long number. */
export function indented(text: string): string {
  try {
    const parsed: unknown = JSON.parse(text)
    return JSON.stringify(parsed) === text.trim() ? JSON.stringify(parsed, null, 2) : text
  } catch {
    return text
  }
}

export function HeaderList({ of }: { readonly of: Readonly<Record<string, string>> }): ReactElement {
  return (
    <dl className="mono text-data">
      {Object.entries(of).map(([name, value]) => (
        <div
          key={name}
          className="grid grid-cols-[minmax(110px,180px)_minmax(0,1fr)] gap-3 py-0.5 max-md:grid-cols-1 max-md:gap-0"
        >
          <dt className="truncate text-j-key">{name}</dt>
          <dd className="wrap-anywhere text-ink-2">{value}</dd>
        </div>
      ))}
    </dl>
  )
}
