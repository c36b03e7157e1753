import { leafText } from '@postroad/contract/raw-number'
import { useState, type ReactElement } from 'react'
import { isTree, type JsonLine } from './json-lines.ts'

/**
 * Finds keys and values. The search of the browser misses some, because the page contains only the visible lines.
 * Enter goes to the next line, and starts over after the last one.
 */
// oxlint-disable-next-line import/no-default-export -- loaded by React.lazy
export default function Find({
  label,
  lines,
  go,
}: {
  readonly label: string
  readonly lines: readonly JsonLine[]
  readonly go: (index: number) => void
}): ReactElement {
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const [isMissing, setMissing] = useState(false)
  const find = (wanted: string, from: number): void => {
    const hits = wanted === '' ? [] : hitsIn(lines, wanted.toLowerCase())
    const to = hits.find((index) => index >= from) ?? hits[0]
    setMissing(wanted !== '' && to === undefined)
    if (to === undefined) return
    setAt(to)
    go(to)
  }
  return (
    <label className="flex h-[30px] flex-none items-center gap-2 border-t border-line px-5 text-meta text-ink-3">
      <input
        aria-label={`Find in ${label.toLowerCase()}`}
        placeholder="Find a key or a value"
        value={text}
        className="h-6 min-w-0 flex-1 bg-transparent text-ink outline-none"
        onChange={({ target: { value } }) => {
          setText(value)
          find(value, 0)
        }}
        onKeyDown={({ key, currentTarget }) => {
          if (key === 'Enter') find(text, at + 1)
          if (key === 'Escape') currentTarget.blur()
        }}
      />
      <span role="status">{isMissing && 'No match'}</span>
    </label>
  )
}

function hitsIn(lines: readonly JsonLine[], wanted: string): readonly number[] {
  return lines.flatMap(({ name = '', kind, value }, index) => {
    const shown = kind === 'leaf' && !isTree(value) ? leafText(value) : ''
    return kind !== 'close' && `${name}: ${shown}`.toLowerCase().includes(wanted) ? [index] : []
  })
}
