import type { ReactElement } from 'react'
import { Glyph, NONE, type Tone } from '../../../ui/glyph.tsx'
import type { Column } from '../../../ui/table.tsx'
import { Time } from '../../../ui/time.tsx'
import { differencesOf, sentenceOf, valueText, type AuditRow } from '../../../parts/audit-sentence.ts'

const REFUSED = new Set(['access_denied', 'ingest_signature_rejected'])
const ENDS = /^(?:delete|revoke|remove|suspend|close|disable|discard)_/

function toneOf({ action }: AuditRow): { readonly tone: Tone; readonly word: string } {
  if (REFUSED.has(action)) return { tone: 'rejected', word: 'refused' }
  return ENDS.test(action) ? { tone: 'fail', word: 'ended something' } : { tone: 'none', word: 'changed something' }
}

/** The columns of the log; `nameOf` gives people and things their names. */
export function columnsOf(nameOf: (id: string) => string, isSlim: boolean): readonly Column<AuditRow>[] {
  const all: readonly Column<AuditRow>[] = [
    {
      id: 'tone',
      label: 'Kind',
      width: '18px',
      hidden: true,
      cell: (row) => {
        const { tone, word } = toneOf(row)
        return <Glyph tone={tone} label={word} />
      },
    },
    { id: 'at', label: 'Time', width: '128px', plain: true, cell: ({ at }) => <Time at={at} /> },
    {
      id: 'change',
      label: 'Change',
      width: 'minmax(220px,1fr)',
      plain: true,
      cell: (row) => (
        <span className="block truncate">
          <Sentence row={row} nameOf={nameOf} />
        </span>
      ),
    },
    {
      id: 'ip',
      label: 'Address',
      width: '120px',
      align: 'right',
      cell: ({ ip }) => (ip === null ? NONE : <span className="mono block truncate text-data text-ink-3">{ip}</span>),
    },
  ]
  return isSlim ? all.filter(({ id }) => id !== 'ip') : all
}

/** "Ada changed the role of Devon: developer → admin". */
export function Sentence({
  row,
  nameOf,
}: {
  readonly row: AuditRow
  readonly nameOf: (id: string) => string
}): ReactElement {
  const { before, hasObject, after } = sentenceOf(row)
  const [first, ...others] = differencesOf(row)
  return (
    <>
      <b className="font-strong">{row.actor === 'system' ? 'Postroad' : nameOf(row.actor)}</b>{' '}
      <span className="text-ink-2">{before}</span>
      {hasObject && (
        <>
          {' '}
          <b className="font-strong">{objectName(row, nameOf)}</b>
        </>
      )}
      {after !== '' && <span className="text-ink-2"> {after}</span>}
      {first !== undefined && (
        <span className="text-ink-3">
          : {first.member === 'role' || first.member === 'plan' ? '' : `${first.member.replaceAll('_', ' ')} `}
          {valueText(first.before)} → {valueText(first.after)}
          {others.length > 0 && ` and ${others.length} more`}
        </span>
      )}
      {row.agent !== null && <span className="text-ink-3"> {agentText(row.agent, nameOf)}</span>}
    </>
  )
}

/** The name of the changed thing: as the row stores it, else as it is now, else its id. */
export function objectName({ target, details }: AuditRow, nameOf: (id: string) => string): string {
  const stored = details['name'] ?? details['title'] ?? details['email']
  if (typeof stored === 'string') return stored
  return target === null ? 'the workspace' : nameOf(target)
}

export function agentText(agent: string, nameOf: (id: string) => string): string {
  if (agent === 'operator') return 'as an installation operator'
  return agent.startsWith('api_key:')
    ? `with the API key ${nameOf(agent.slice('api_key:'.length))}`
    : `through ${agent}`
}
