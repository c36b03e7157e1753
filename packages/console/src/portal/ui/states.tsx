import { ServiceError } from '@postroad/sdk/service-error'
import { useEffect, useState, type ReactElement, type ReactNode } from 'react'
import { Button } from './button.tsx'

/** The states of a page without its data. Each is a sentence, with the next step if there is one. */

type Tone = 'info' | 'ok' | 'retry' | 'fail'
const TONES: Readonly<Record<Tone, string>> = {
  info: 'border-accent-line bg-accent-soft text-ink',
  ok: 'border-ok-quiet bg-ok-soft text-ink',
  retry: 'border-retry bg-retry-soft text-retry-text',
  fail: 'border-fail bg-fail-soft text-fail',
}

export function Notice({
  tone,
  children,
  actions,
}: {
  readonly tone: Tone
  readonly children: ReactNode
  readonly actions?: ReactNode
}): ReactElement {
  return (
    <div
      role={tone === 'fail' ? 'alert' : 'status'}
      className={`mb-4 flex flex-wrap items-center gap-x-4 gap-y-2 rounded-field border px-4 py-2.5 ${TONES[tone]}`}
    >
      <div className="min-w-0 flex-1 basis-60 break-words">{children}</div>
      {actions}
    </div>
  )
}

/** A refusal in one line, with the id under which the operator finds it. */
export function RefusedNotice({
  error,
  again,
}: {
  readonly error: Error | null
  readonly again?: () => unknown
}): ReactElement | null {
  if (error === null) return null
  const said = error instanceof ServiceError ? error : undefined
  return (
    <Notice
      tone="fail"
      {...(again === undefined ? {} : { actions: <Button onClick={() => void again()}>Try again</Button> })}
    >
      {error.message}
      {said?.status === 429 && said.retryAfter !== undefined && ` Wait ${said.retryAfter} seconds.`}
      {said?.requestId !== undefined && said.status >= 500 && (
        <span className="mono block text-data">Request {said.requestId}</span>
      )}
    </Notice>
  )
}

const PATIENCE_MS = 150

/** Shows nothing for a moment, then rows of the height of the list. */
export function Skeleton({
  rows = 4,
  height = 64,
}: {
  readonly rows?: number
  readonly height?: number
}): ReactElement {
  const [isLate, setLate] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), PATIENCE_MS)
    return () => clearTimeout(timer)
  }, [])
  return (
    <div role="status" aria-label="Loading" className={isLate ? '' : 'invisible'}>
      <Card>
        {Array.from({ length: rows }, (_none, index) => (
          <div
            key={index}
            className="flex flex-col justify-center gap-2 border-b border-line px-5 last:border-b-0"
            style={{ height }}
          >
            <i className="h-2.5 w-2/5 rounded-chip bg-line" />
            <i className="h-2 w-1/4 rounded-chip bg-line opacity-60" />
          </div>
        ))}
      </Card>
    </div>
  )
}

/** An empty list: the reason, and the next step. */
export function Blank({
  title,
  children,
  actions,
  alone = false,
}: {
  readonly title: string
  readonly children?: ReactNode
  readonly actions?: ReactNode
  /** The whole page is empty, so this text is its title. */
  readonly alone?: boolean
}): ReactElement {
  const Title = alone ? 'h1' : 'h2'
  return (
    <Card>
      <div className="grid justify-items-center gap-1.5 px-6 py-12 text-center">
        <Title className="text-page">{title}</Title>
        {children !== undefined && <div className="max-w-[52ch] text-ink-3">{children}</div>}
        {actions !== undefined && <div className="flex flex-wrap justify-center gap-2 not-empty:mt-4">{actions}</div>}
      </div>
    </Card>
  )
}

export function Card({ children, label }: { readonly children: ReactNode; readonly label?: string }): ReactElement {
  return (
    <section
      aria-label={label}
      className="overflow-hidden rounded-page border border-line bg-surface shadow-[0_1px_2px_oklch(0_0_0/.04)]"
    >
      {children}
    </section>
  )
}

/** A part of a page with a heading. */
export function Part({
  title,
  text,
  beside,
  children,
}: {
  readonly title: string
  readonly text?: ReactNode
  readonly beside?: ReactNode
  readonly children?: ReactNode
}): ReactElement {
  return (
    <section aria-label={title} className="border-b border-line px-5 py-5 last:border-b-0">
      <div className="flex flex-wrap items-start justify-between gap-x-4 gap-y-2">
        <div className="min-w-0 flex-1 basis-64">
          <h2 className="font-title">{title}</h2>
          {text !== undefined && <div className="max-w-[64ch] text-ink-3">{text}</div>}
        </div>
        {beside}
      </div>
      {children !== undefined && <div className="not-empty:mt-4">{children}</div>}
    </section>
  )
}
