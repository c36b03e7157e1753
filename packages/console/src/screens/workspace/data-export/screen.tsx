import { LIMITS, routes, type RouteAnswer, type Routes } from '@postroad/contract'
import { Download } from 'lucide-react'
import { useState, type ReactElement } from 'react'
import { useAsk, useChange } from '../../../data/ask.ts'
import { every, useAllMembers } from '../../../data/lists.ts'
import { useMay, useRefusal } from '../../../data/place.ts'
import { CommandBlock } from '../../../parts/command-line.tsx'
import { cli } from '../../../parts/commands.ts'
import { CopyMeta } from '../../../parts/detail.tsx'
import { RemoveDialog } from '../../../parts/remove-dialog.tsx'
import { useCopyItemsOf } from '../../../parts/copy-as.tsx'
import { SettingsPage } from '../../../parts/settings-page.tsx'
import { counted } from '../../../parts/text-list.ts'
import { Button } from '../../../ui/button.tsx'
import { Chip, type Tone } from '../../../ui/glyph.tsx'
import { MoreMenu } from '../../../ui/menu.tsx'
import { Empty, Loading, Refused, RefusedLine, Stale } from '../../../ui/states.tsx'
import { bytes, Countdown, Time } from '../../../ui/time.tsx'

type Export = RouteAnswer<Routes['dataExport']['list']>['data_exports'][number]

const TONES: Readonly<Record<Export['state'], Tone>> = {
  pending: 'sending',
  running: 'sending',
  ready: 'ok',
  failed: 'fail',
  expired: 'none',
}
const EVERY_MS = 2_000
const isGoing = ({ state }: Export): boolean => state === 'pending' || state === 'running'

/** Everything of the workspace as one zip: the exports with their progress. */
export function Screen(): ReactElement {
  const [isFast, setFast] = useState(false)
  const asked = useAsk(
    ['dataExport', 'all'],
    (client, signal) => every(client.dataExport.list({ limit: 200 }, { signal })),
    isFast ? { everyMs: EVERY_MS } : {},
  )
  const { data, error } = asked
  const isRunning = data?.some(isGoing) === true
  if (data !== undefined && isFast !== isRunning) setFast(isRunning)
  const refusal = useRefusal(routes.dataExport.create)
  const items = useCopyItemsOf()
  const create = useChange(['dataExport'], (client) => client.dataExport.create())
  const begin = (
    <Button
      kind="primary"
      disabled={refusal !== undefined || create.isPending || isRunning}
      title={refusal ?? (isRunning ? 'Only one export can run at a time.' : 'Starts a zip export of everything')}
      onClick={() => create.mutate(undefined)}
    >
      Export everything
    </Button>
  )
  return (
    <SettingsPage
      title="Data export"
      actions={
        <>
          {data?.length !== 0 && begin}
          <MoreMenu
            items={[
              ...items({ route: routes.dataExport.list }),
              ...items({ route: routes.dataExport.create }, '“Export everything”'),
            ]}
          />
        </>
      }
      foot={
        <span>
          Postroad stores up to {LIMITS.dataExportsReadyMax} exports, each for {LIMITS.dataExportRetentionDays} days.
        </span>
      }
    >
      {error !== null && data !== undefined && (
        <Stale since={asked.dataUpdatedAt} error={asked.error} again={asked.refetch} />
      )}
      {create.error !== null && (
        <div className="px-[18px] py-2">
          <RefusedLine error={create.error} />
        </div>
      )}
      {data === undefined ? (
        error === null ? (
          <Loading rows={4} height={64} />
        ) : (
          <Refused error={error} again={asked.refetch} />
        )
      ) : data.length === 0 ? (
        <Empty title="No exports yet" actions={begin}>
          An export is one zip of NDJSON files. It contains projects and their settings without secrets, events with
          their bodies, deliveries with their attempts, members, key prefixes, and the audit log. You can also export
          from a terminal:
          <CommandBlock command={cli('export')} />
        </Empty>
      ) : (
        <ul
          aria-label="Data exports"
          tabIndex={0}
          className="min-h-0 flex-1 overflow-y-auto border-t border-line outline-offset-[-2px]"
        >
          {data.map((one) => (
            <Line key={one.id} of={one} />
          ))}
        </ul>
      )}
    </SettingsPage>
  )
}

function Line({ of }: { readonly of: Export }): ReactElement {
  const { id, state, created_at, requested_by, expires_at, file, error } = of
  const [isRemoving, setRemoving] = useState(false)
  const refusal = useRefusal(routes.dataExport.remove)
  const mayRead = useMay(routes.members.list)
  const by = useAllMembers({ enabled: mayRead }).data?.find((member) => member.id === requested_by)?.name
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 border-b border-line/55 px-[18px] py-3">
      <Chip tone={TONES[state]}>{state}</Chip>
      <span className="min-w-0 flex-1">
        <span className="block">
          Requested <Time at={created_at} />
          {requested_by === null ? ' by the operator' : by === undefined ? '' : ` by ${by}`}
        </span>
        <span className="block text-ink-3">
          {isGoing(of) && <Progress of={of} />}
          {state === 'ready' && file !== null && (
            <>
              {bytes(file.bytes)}, {counted(of.progress.rows_done, 'row')}
              {expires_at !== null && (
                <>
                  , deleted <Countdown to={expires_at} />
                </>
              )}
            </>
          )}
          {state === 'failed' && (error ?? 'The export failed.')}
          {state === 'expired' && 'The file was deleted.'}
        </span>
        {file !== null && (
          <span className="flex min-w-0 items-center gap-1.5 text-meta text-ink-3">
            SHA-256 <CopyMeta text={file.sha256} label="Copy the SHA-256 of the file" />
          </span>
        )}
      </span>
      <span className="flex items-center gap-2">
        {state === 'ready' && (
          <a
            href={`/admin/api/data-export/${id}/download`}
            download
            className="inline-flex h-7 items-center gap-[7px] rounded-button border border-line-2 bg-surface px-2.5 font-control hover:bg-sunken"
          >
            <Download className="size-3.5 text-ink-2" strokeWidth={1.5} aria-hidden />
            Download
          </a>
        )}
        <Button disabled={refusal !== undefined} title={refusal} onClick={() => setRemoving(true)}>
          {isGoing(of) ? 'Stop' : 'Delete'}
        </Button>
      </span>
      {isRemoving && (
        <RemoveDialog
          name="this export"
          removal={{
            verb: 'Delete',
            text: isGoing(of)
              ? 'Postroad stops the export and deletes the partial file.'
              : 'Postroad deletes the file. You can create another export at any time.',
            rooms: ['dataExport'],
            run: (client) => client.dataExport.remove({ id }),
          }}
          onClose={() => setRemoving(false)}
          onRemoved={() => setRemoving(false)}
        />
      )}
    </li>
  )
}

function Progress({ of: { state, progress } }: { readonly of: Export }): ReactElement {
  const { files_done, files_total, rows_done, rows_total, bytes_done } = progress
  if (state === 'pending') return <>The export starts within seconds.</>
  return (
    <>
      <progress
        className="h-1 w-40 align-middle accent-(--accent)"
        aria-label="Export progress"
        max={Math.max(1, rows_total ?? files_total)}
        value={rows_total === null ? files_done : rows_done}
      />{' '}
      {rows_done.toLocaleString('en')}
      {rows_total !== null && ` of ${rows_total.toLocaleString('en')}`} rows, {files_done} of {files_total} files,{' '}
      {bytes(bytes_done)}
    </>
  )
}
