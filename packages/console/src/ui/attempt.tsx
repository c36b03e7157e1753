import type { RouteAnswer, Routes } from '@postroad/contract'
import type { ReactElement } from 'react'
import { Time, took } from './time.tsx'

type Attempt = RouteAnswer<Routes['deliveries']['get']>['delivery']['attempts'][number]

/** One try: when, how long, what came back. */
export function AttemptPart({
  attempt,
  isOpen = false,
}: {
  readonly attempt: Attempt
  readonly isOpen?: boolean
}): ReactElement {
  const {
    number,
    trigger,
    started_at,
    duration_ms,
    outcome,
    response_status,
    error_code,
    error_detail,
    response_headers,
    response_body,
    response_truncated,
  } = attempt
  return (
    <details className="group border-b border-line" open={isOpen}>
      <summary className="flex min-h-9 cursor-default items-center gap-3 px-5 outline-offset-[-2px] hover:bg-hover">
        <span className="mono text-meta text-ink-3">{number}</span>
        <span
          className={`mono text-data font-control ${outcome === 'succeeded' ? 'text-ok-text' : outcome === null ? 'text-accent' : 'text-fail'}`}
        >
          {response_status ?? error_code?.replaceAll('_', ' ') ?? outcome ?? 'sending'}
        </span>
        <Time at={started_at} />
        <span className="text-data text-ink-3">{trigger}</span>
        <span className="mono ml-auto text-meta text-ink-3">
          {took(duration_ms)}
          {duration_ms !== null && duration_ms < 1_000 ? ' ms' : ''}
        </span>
      </summary>
      <div className="px-5 pb-3">
        {error_detail !== null && <p className="mb-2 text-fail">{error_detail}</p>}
        {response_headers !== null && <HeaderList of={response_headers} />}
        {response_body !== null && response_body !== '' && (
          <pre className="mono mt-2 max-h-60 overflow-auto rounded-field bg-sunken p-3 text-data whitespace-pre-wrap break-all">
            {response_body}
          </pre>
        )}
        {response_truncated === true && (
          <p className="mt-1 text-data text-ink-3">Only the first 16 KiB of the answer are stored.</p>
        )}
        {response_body === '' && <p className="text-data text-ink-3">The answer had no body.</p>}
      </div>
    </details>
  )
}

export function HeaderList({ of }: { readonly of: Readonly<Record<string, string>> }): ReactElement {
  return (
    <dl className="mono text-data">
      {Object.entries(of).map(([name, value]) => (
        <div key={name} className="grid grid-cols-[minmax(110px,180px)_minmax(0,1fr)] gap-3 py-0.5">
          <dt className="truncate text-j-key">{name}</dt>
          <dd className="break-all text-ink-2">{value}</dd>
        </div>
      ))}
    </dl>
  )
}
