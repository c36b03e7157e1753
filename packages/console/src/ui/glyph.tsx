import type { ReactElement } from 'react'

/** The status of something. Each has its own shape, so that it can be recognized without colors. */
export type Tone = 'ok' | 'retry' | 'fail' | 'rejected' | 'sending' | 'paused' | 'none'

const LOOKS: Readonly<Record<Tone, { readonly label: string; readonly color: string; readonly shape: ReactElement }>> =
  {
    ok: { label: 'delivered', color: 'text-ok', shape: <circle cx="6" cy="6" r="2.25" fill="currentColor" /> },
    retry: { label: 'retrying', color: 'text-retry', shape: <path d="M6 1.6 10.9 10.2H1.1z" fill="currentColor" /> },
    fail: {
      label: 'failed',
      color: 'text-fail',
      shape: <rect x="1.6" y="1.6" width="8.8" height="8.8" rx="2" fill="currentColor" />,
    },
    rejected: {
      label: 'rejected',
      color: 'text-ink-3',
      shape: (
        <path
          d="M6 2a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM3.2 8.8l5.6-5.6"
          fill="none"
          stroke="currentColor"
          strokeWidth="1.5"
        />
      ),
    },
    sending: {
      label: 'sending',
      color: 'text-accent',
      shape: (
        <circle cx="6" cy="6" r="4" fill="none" stroke="currentColor" strokeWidth="1.5" strokeDasharray="2.5 2.5" />
      ),
    },
    paused: {
      label: 'paused',
      color: 'text-ink-3',
      shape: <path d="M3.5 2.5v7m5-7v7" stroke="currentColor" strokeWidth="2" />,
    },
    none: {
      label: 'stored',
      color: 'text-ink-4',
      shape: <circle cx="6" cy="6" r="2.25" fill="none" stroke="currentColor" strokeWidth="1.2" />,
    },
  }

export function Glyph({ tone, label }: { readonly tone: Tone; readonly label?: string }): ReactElement {
  const look = LOOKS[tone]
  return (
    <svg
      className={`size-3 flex-none ${look.color}`}
      viewBox="0 0 12 12"
      {...(label === '' ? { 'aria-hidden': true } : { role: 'img', 'aria-label': label ?? look.label })}
    >
      {look.shape}
    </svg>
  )
}

const SOFT: Readonly<Record<Tone, string>> = {
  ok: 'bg-ok-soft text-ink',
  retry: 'bg-retry-soft text-retry-text',
  fail: 'bg-fail-soft text-fail',
  rejected: 'bg-press text-ink-2',
  sending: 'bg-accent-soft text-accent',
  paused: 'bg-press text-ink-2',
  none: 'bg-press text-ink-2',
}

/** The light of something that was set up, with its word for screen readers and its sentence on hover. */
export function Light({
  of: { tone, word, text },
}: {
  readonly of: { readonly tone: Tone; readonly word: string; readonly text: string }
}): ReactElement {
  return (
    <span title={text}>
      <Glyph tone={tone} label={word} />
    </span>
  )
}

/** A status with a word or two. */
export function Chip({ tone, children }: { readonly tone: Tone; readonly children: string }): ReactElement {
  return (
    <span
      className={`inline-flex h-[22px] items-center gap-1.5 rounded-row px-2 text-data leading-4 font-control whitespace-nowrap ${SOFT[tone]}`}
    >
      <Glyph tone={tone} label="" />
      {children}
    </span>
  )
}

/** The status of something that runs, as a chip. */
export function LightChip({
  of: { tone, word },
}: {
  readonly of: { readonly tone: Tone; readonly word: string }
}): ReactElement {
  return <Chip tone={tone}>{word}</Chip>
}

const SEGMENTS: Readonly<Record<Tone, string>> = {
  ok: 'bg-ok-quiet',
  retry: 'bg-retry',
  fail: 'bg-fail',
  rejected: 'bg-ink-4',
  sending: 'shadow-[inset_0_0_0_1.2px_var(--accent)]',
  paused: 'shadow-[inset_0_0_0_1.2px_var(--ink-4)]',
  none: 'bg-line-2',
}

/** A dash for a missing value. A list that shows its rows as cards leaves out the value and its label. */
export const NONE = (
  <span data-none className="text-ink-3">
    –
  </span>
)

/** One segment for each destination, in their order, so that a column of them reads like a chart. */
export function Segments({ of }: { readonly of: readonly Tone[] }): ReactElement | null {
  if (of.length === 0) return NONE
  const shown = of.slice(0, 5)
  return (
    <span className="flex items-center gap-0.5" role="img" aria-label={of.map((tone) => LOOKS[tone].label).join(', ')}>
      {shown.map((tone, index) => (
        <i key={index} className={`h-1.5 w-3 rounded-[2px] ${SEGMENTS[tone]}`} />
      ))}
      {of.length > shown.length && <span className="pl-0.5 text-axis text-ink-3">+{of.length - shown.length}</span>}
    </span>
  )
}
