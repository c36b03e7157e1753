import { ServiceError } from '@postroad/sdk/service-error'
import { CloudOff, Hourglass, Lock, TriangleAlert } from 'lucide-react'
import { useEffect, useState, type ReactElement, type ReactNode } from 'react'
import { Button } from './button.tsx'
import { CopyButton } from './copy.tsx'
import { secondText } from './moments.ts'
import { useNow } from './time.tsx'

/** The states of every screen besides the normal one: loading, empty, refused (forbidden, rate-limited, any error), stale. */

const PATIENCE_MS = 150

/** Shows nothing for 150 ms, then rows of the list's height. */
export function Loading({
  rows = 12,
  height = 40,
}: {
  readonly rows?: number
  readonly height?: number
}): ReactElement | null {
  const [late, setLate] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), PATIENCE_MS)
    return () => clearTimeout(timer)
  }, [])
  if (!late) return null
  return (
    <div role="status" aria-label="Loading" className="overflow-hidden">
      {Array.from({ length: rows }, (_none, index) => (
        <div key={index} className="flex items-center gap-4 border-b border-line/55 px-[18px]" style={{ height }}>
          <i className="size-3 rounded-full bg-line" />
          <i className="h-2.5 w-24 rounded-chip bg-line" />
          <i className="h-2.5 w-32 rounded-chip bg-line" />
          <i className="h-2.5 flex-1 rounded-chip bg-line opacity-60" />
        </div>
      ))}
    </div>
  )
}

type EmptyProps = {
  /** The missing thing, in one sentence. */
  readonly title: string
  /** The remedy. */
  readonly children?: ReactNode
  readonly actions?: ReactNode
  /** The whole page is empty, so this text is its title. */
  readonly alone?: boolean
}

export function Empty({ title, children, actions, alone = false }: EmptyProps): ReactElement {
  const Title = alone ? 'h1' : 'h2'
  return (
    <div className="grid h-full grid-cols-[minmax(0,auto)] place-content-center justify-items-center gap-1 p-8 text-center max-md:px-[18px]">
      <Title className="text-lead font-title">{title}</Title>
      {children !== undefined && <div className="max-w-[min(56ch,100%)] text-ink-3">{children}</div>}
      {actions !== undefined && <div className="mt-4 flex gap-2">{actions}</div>}
    </div>
  )
}

/** A refusal of the server: its sentence, its reason, a request id to copy, and the next step. */
export function Refused({
  error,
  again,
}: {
  readonly error: Error
  readonly again?: (() => unknown) | undefined
}): ReactElement {
  const said = error instanceof ServiceError ? error : undefined
  return (
    <div role="alert" className="grid h-full place-content-center justify-items-center gap-2 p-8 text-center">
      <RefusalIcon said={said} />
      <p className="max-w-[60ch] text-lead font-control">{error.message}</p>
      <SaidBy error={error} />
      {said?.status === 429
        ? again !== undefined && <AfterWaiting seconds={said.retryAfter ?? 10} again={again} className="mt-2" />
        : again !== undefined &&
          said?.status !== 403 && (
            <Button className="mt-2" onClick={() => void again()}>
              Try again
            </Button>
          )}
    </div>
  )
}

function RefusalIcon({ said }: { readonly said: ServiceError | undefined }): ReactElement {
  const look = { className: 'size-5 text-ink-3', strokeWidth: 1.5, 'aria-hidden': true }
  if (said?.status === 403) return <Lock {...look} />
  if (said?.status === 429) return <Hourglass {...look} />
  return said?.status === 0 ? <CloudOff {...look} /> : <TriangleAlert {...look} />
}

/** The reason and the request id in small type, for an investigation. */
export function SaidBy({ error }: { readonly error: Error }): ReactElement | null {
  if (!(error instanceof ServiceError)) return null
  return (
    <p className="mono flex items-center gap-3 text-meta text-ink-3">
      {error.reason !== undefined && <span>{error.reason}</span>}
      {error.requestId !== undefined && (
        <CopyButton text={error.requestId} label="Copy request ID">
          {error.requestId}
        </CopyButton>
      )}
    </p>
  )
}

/** The same in one line, for a form or a dialog. */
export function RefusedLine({ error }: { readonly error: Error | null }): ReactElement | null {
  if (error === null) return null
  return (
    <div role="alert" className="rounded-field bg-fail-soft px-3 py-2 text-fail">
      <p>{error.message}</p>
      <SaidBy error={error} />
    </div>
  )
}

function AfterWaiting({
  seconds,
  again,
  className,
}: {
  readonly seconds: number
  readonly again: () => unknown
  readonly className: string
}): ReactElement {
  const [until] = useState(() => Date.now() + seconds * 1_000)
  const left = Math.min(seconds, Math.ceil((until - useNow()) / 1_000))
  return (
    <Button className={className} disabled={left > 0} onClick={() => void again()}>
      {left > 0 ? `Try again in ${left} s` : 'Try again'}
    </Button>
  )
}

type StaleProps = {
  readonly since: number
  readonly again: () => unknown
  /** The answer to the last attempt; absent: there was none. */
  readonly error?: Error | null
}

/** The data can be out of date, because the server has not answered since, or has refused to. */
export function Stale({ since, again, error }: StaleProps): ReactElement {
  const said = error instanceof ServiceError && error.status >= 400 && error.status < 500 ? error : undefined
  return (
    <div
      role="status"
      className="flex min-h-8 flex-wrap items-center justify-center gap-x-2 border-b border-line bg-retry-soft px-4 text-data text-retry-text"
    >
      <span>
        {said?.message ?? 'Reconnecting.'} Last update {secondText(since)}.
      </span>
      {said?.status === 429 ? (
        <AfterWaiting key={said.requestId} seconds={said.retryAfter ?? 10} again={again} className="h-6" />
      ) : (
        <button type="button" className="min-h-6 px-1 font-control underline" onClick={() => void again()}>
          Try now
        </button>
      )}
    </div>
  )
}

/** The title of a dimmed button: the role that the action requires. */
export function needs(role: string): string {
  return `This requires the ${role} role. Ask a workspace admin.`
}
