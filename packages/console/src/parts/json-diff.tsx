import { useMemo, type ReactElement } from 'react'
import { lineDiff, type DiffLine } from './line-diff.ts'

const AROUND = 3

type Props<Side> = { readonly before: Side; readonly after: Side; readonly label: string }

/** The differences between two values, as lines of JSON with a few lines around each. */
export function JsonDiff({ before, after, label }: Props<unknown>): ReactElement {
  return <TextDiff before={JSON.stringify(before, null, 2)} after={JSON.stringify(after, null, 2)} label={label} />
}

/** The differences between two texts, as lines with a few lines around each. */
export function TextDiff({ before, after, label }: Props<string>): ReactElement {
  const lines = useMemo(() => folded(lineDiff(before, after)), [before, after])
  return (
    <pre
      tabIndex={0}
      aria-label={label}
      className="mono mb-3.5 max-h-[46vh] overflow-auto rounded-field border border-line bg-sunken py-1.5 text-data"
    >
      {lines.map((line, index) =>
        line === undefined ? (
          <span key={index} className="block px-3 text-ink-3">
            ⋯
          </span>
        ) : (
          <span key={index} className={`block px-3 break-all whitespace-pre-wrap ${LOOKS[line.kind].className}`}>
            {LOOKS[line.kind].sign} {line.text}
          </span>
        ),
      )}
    </pre>
  )
}

const LOOKS: Readonly<Record<DiffLine['kind'], { readonly sign: string; readonly className: string }>> = {
  same: { sign: ' ', className: 'text-ink-2' },
  old: { sign: '−', className: 'bg-fail-soft text-fail' },
  new: { sign: '+', className: 'bg-ok-soft text-ink' },
}

/** The lines near a difference; undefined is a gap of the other lines. */
function folded(lines: readonly DiffLine[]): readonly (DiffLine | undefined)[] {
  const isNear = lines.map((_line, index) =>
    lines.slice(Math.max(0, index - AROUND), index + AROUND + 1).some(({ kind }) => kind !== 'same'),
  )
  return lines.flatMap((line, index) =>
    isNear[index] === true ? [line] : index > 0 && isNear[index - 1] !== true ? [] : [undefined],
  )
}
