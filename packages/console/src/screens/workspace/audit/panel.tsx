import { X } from 'lucide-react'
import type { ReactElement } from 'react'
import { To } from '../../../data/go.tsx'
import { CopyMeta, Facts, Part } from '../../../parts/detail.tsx'
import { IconButton } from '../../../ui/button.tsx'
import { Time } from '../../../ui/time.tsx'
import { agentText, Sentence } from './columns.tsx'
import { Differences } from '../../../parts/differences.tsx'
import { differencesOf, otherDetails, screenOf, valueText, type AuditRow } from '../../../parts/audit-sentence.ts'

type Props = {
  readonly row: AuditRow
  readonly nameOf: (id: string) => string
  readonly filter: (part: { readonly actor?: string; readonly target?: string; readonly action?: string }) => void
  readonly onClose: () => void
}

/** One row of the log: the sentence, the values before and after, and its place in the chain. */
export function AuditPanel({ row, nameOf, filter, onClose }: Props): ReactElement {
  const { id, at, actor, action, target, ip, prev_hash, hash } = row
  const differences = differencesOf(row)
  const others = otherDetails(row)
  return (
    <section
      aria-label="Change"
      className="flex min-h-0 min-w-0 flex-col border-l border-line bg-surface max-xl:border-l-0"
    >
      <header className="flex items-start gap-2 pt-3 pr-3.5 pb-3 pl-5">
        <h2 className="min-w-0 flex-1 text-lead font-control break-words">
          <Sentence row={row} nameOf={nameOf} />
        </h2>
        <IconButton label="Close" onClick={onClose}>
          <X strokeWidth={1.5} />
        </IconButton>
      </header>
      <div
        className="min-h-0 flex-1 overflow-y-auto border-t border-line"
        role="group"
        aria-label="Details"
        tabIndex={0}
      >
        {differences.length > 0 && (
          <Part title="Before and after">
            <Differences of={differences} />
          </Part>
        )}
        <Part title="Change">
          <Facts
            of={[
              ['Time', <Time key="at" at={at} />],
              [
                'Who',
                <Filtering
                  key="who"
                  text={actor === 'system' ? 'Postroad' : nameOf(actor)}
                  go={() => filter({ actor })}
                />,
              ],
              ['How', howText(row, nameOf)],
              [
                'Address',
                ip === null ? (
                  'no address'
                ) : (
                  <span key="from" className="mono text-data">
                    {ip}
                  </span>
                ),
              ],
              ['Action', <Filtering key="action" text={action} go={() => filter({ action })} isCode />],
              [
                'Object',
                target === null ? 'none' : <Object key="target" target={target} go={() => filter({ target })} />,
              ],
              ...others.map(([name, value]) => [labelOf(name), valueText(value)] as const),
            ]}
          />
        </Part>
        <Part
          title="Chain"
          text="Each row contains the hash of the previous row, so Verify detects changes to old rows."
        >
          <Facts
            of={[
              ['Row', <CopyMeta key="id" text={id} label="Copy ID" />],
              ['Hash', <CopyMeta key="hash" text={hash} label="Copy the hash" />],
              [
                'Previous',
                prev_hash === null ? (
                  'none (first row)'
                ) : (
                  <CopyMeta key="prev" text={prev_hash} label="Copy the previous hash" />
                ),
              ],
            ]}
          />
        </Part>
      </div>
    </section>
  )
}

function howText({ actor, agent }: AuditRow, nameOf: (id: string) => string): string {
  if (agent !== null) return agentText(agent, nameOf)
  return actor === 'system' ? 'directly' : 'in the console'
}

/** A value that narrows the list to rows with the same value. */
function Filtering({
  text,
  go,
  isCode = false,
}: {
  readonly text: string
  readonly go: () => void
  readonly isCode?: boolean
}): ReactElement {
  return (
    <button
      type="button"
      title="Show only rows with this"
      onClick={go}
      className={`min-h-6 text-left break-all underline decoration-line-2 hover:decoration-ink ${isCode ? 'mono text-data' : ''}`}
    >
      {text}
    </button>
  )
}

function Object({ target, go }: { readonly target: string; readonly go: () => void }): ReactElement {
  const screen = screenOf(target)
  return (
    <span className="flex flex-wrap items-center gap-x-3">
      <Filtering text={target} go={go} isCode />
      {screen !== undefined && (
        <To screen={screen} search={{ sel: target }} className="inline-block min-h-6 leading-6 text-accent underline">
          Open it
        </To>
      )}
    </span>
  )
}

/** `method` → "Method". */
function labelOf(name: string): string {
  const text = name.replaceAll('_', ' ')
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`
}
