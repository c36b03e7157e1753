import { routes } from '@postroad/contract'
import { useState, type ReactElement } from 'react'
import { useChange } from '../../../data/ask.ts'
import { useRefusal } from '../../../data/place.ts'
import type { Source } from '../../../data/source-lists.ts'
import { AskDialog } from '../../../parts/ask-dialog.tsx'
import { Facts, Part } from '../../../parts/detail.tsx'
import { counted } from '../../../parts/text-list.ts'
import { Button } from '../../../ui/button.tsx'
import { bytes } from '../../../ui/time.tsx'
import { useToast } from '../../../ui/toast.tsx'
import { Moment } from './columns.tsx'

const size = (count: number | null): string => (count === null ? 'unknown' : bytes(count))

/** The copy of the existing rows, in one sentence. */
function snapshotText({ state, rows, table, tables, tables_done: done }: NonNullable<Source['snapshot']>): string {
  if (state === 'waiting') return 'Existing rows: waiting for the first connection.'
  const count = rows.toLocaleString('en')
  if (state === 'complete') return `Existing rows: all ${count} were read, from ${counted(done, 'table')}.`
  return `Existing rows: ${count} read${table === null ? '' : `, now in ${table}`}; ${done} of ${tables ?? 0} tables complete. Changes follow.`
}

/** The slot in the source database, a warning while it can fill the disk there, and the remedy for lost changes. */
export function ReplicationPart({ source }: { readonly source: Source }): ReactElement {
  const { replication: of, snapshot } = source
  return (
    <>
      {of !== null && of.warning !== null && (
        <p role="alert" className="border-b border-line bg-retry-soft px-5 py-2.5 text-retry-text">
          {of.warning}
        </p>
      )}
      <Part title="Replication" text="The database retains its WAL until Postroad has stored the changes.">
        {of === null ? (
          <p className="text-ink-3">Postroad has not checked the replication slot yet.</p>
        ) : (
          <Facts
            of={[
              [
                'Slot',
                <span key="slot" className="mono text-data">
                  {of.slot}
                </span>,
              ],
              ['WAL status', of.wal_status ?? 'the slot does not exist'],
              ['Not read yet', size(of.lag_bytes)],
              ['Retained WAL', size(of.retained_bytes)],
              ['Checked', <Moment key="checked" at={of.checked_at} />],
            ]}
          />
        )}
        {snapshot !== null && <p className="mt-3 text-ink-2">{snapshotText(snapshot)}</p>}
        {source.last_error !== null && <BeginAgain source={source} />}
      </Part>
    </>
  )
}

function restartText(settings: Source['settings']): string {
  if (settings.kind === 'postgres_replication' && settings.snapshot)
    return 'Postroad resets the position and copies all existing rows again, one event each. The changes after that follow.'
  return settings.kind === 'postgres_replication' && settings.slot !== null
    ? 'Postroad resets the position and continues from your slot.'
    : 'Postroad resets the position, creates a new slot, and stores changes from now on. Earlier changes remain lost.'
}

function BeginAgain({ source: { id, settings } }: { readonly source: Source }): ReactElement {
  const refusal = useRefusal(routes.sources.update)
  const may = refusal === undefined
  const toast = useToast()
  const [asks, setAsks] = useState(false)
  const restart = useChange(['sources'], (client) => client.sources.update({ id, restart: true }))
  return (
    <div className="mt-3">
      <Button disabled={!may} title={refusal} onClick={() => setAsks(true)}>
        Start over
      </Button>
      {asks && (
        <AskDialog
          title="Start over?"
          verb="Start over"
          disabled={restart.isPending}
          error={restart.error}
          onClose={() => setAsks(false)}
          onYes={() =>
            restart.mutate(undefined, {
              onSuccess: () => {
                setAsks(false)
                toast({ text: 'The source starts over.' })
              },
            })
          }
        >
          {restartText(settings)}
        </AskDialog>
      )}
    </div>
  )
}
