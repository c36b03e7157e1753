import type { ReactElement } from 'react'
import type { Tail, TailStatus } from '../../../data/tail.ts'

const WORDS: Readonly<Record<TailStatus, string>> = {
  off: 'Paused',
  connecting: 'Connecting',
  live: 'Live',
  lost: 'Reconnecting',
  refused: 'Not live',
}

/** Whether the tail runs, and the switch for it. */
export function LiveButton({ tail }: { readonly tail: Tail }): ReactElement {
  const { status } = tail
  const isOn = status !== 'off' && status !== 'refused'
  return (
    <button
      type="button"
      aria-pressed={isOn}
      title={
        tail.why === undefined
          ? 'Turns the live tail on or off (l)'
          : `The server ended the live tail: ${tail.why.replaceAll('_', ' ')}`
      }
      onClick={() => (isOn ? tail.close() : tail.open())}
      className={`flex h-7 items-center gap-[7px] rounded-button px-2.5 font-strong ${status === 'live' ? 'bg-accent-soft text-accent' : status === 'lost' ? 'bg-retry-soft text-retry-text' : 'bg-press text-ink-2'}`}
    >
      <i className="relative size-[7px] rounded-full bg-current">
        {status === 'live' && (
          <i className="absolute -inset-[3px] animate-ping-live rounded-full border-[1.5px] border-current opacity-35" />
        )}
      </i>
      {WORDS[status]}
    </button>
  )
}
