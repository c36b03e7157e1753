import type { ReactElement } from 'react'

/** One filter of the list, and the button that removes it. */
export function FilterChip({
  path,
  sign,
  value,
  mono = false,
  onRemove,
}: {
  readonly path: string
  readonly sign: string
  readonly value: string
  readonly mono?: boolean
  readonly onRemove: () => void
}): ReactElement {
  return (
    <span className="inline-flex h-[26px] max-w-[40ch] items-center gap-1 rounded-[5px] border border-line-2 bg-surface pl-2 whitespace-nowrap text-ink-3">
      <span className="truncate text-ink-2">{path}</span> {sign}{' '}
      <b className={`truncate text-ink ${mono ? 'mono text-data font-control' : 'font-strong'}`}>{value}</b>
      <button
        type="button"
        aria-label={`Remove the filter ${path} ${sign} ${value}`}
        onClick={onRemove}
        className="grid size-6 flex-none place-items-center rounded-chip text-ink-3 hover:text-ink"
      >
        ×
      </button>
    </span>
  )
}
