import { routes } from '@postroad/contract'
import { Download } from 'lucide-react'
import { useMemo, useState, type ReactElement } from 'react'
import { useSearchState } from '../../../data/go.tsx'
import { useCopyItemsOf } from '../../../parts/copy-as.tsx'
import { InSettings } from '../../../parts/settings-page.tsx'
import { counted } from '../../../parts/text-list.ts'
import { useKeys } from '../../../shell/keys.ts'
import { Button } from '../../../ui/button.tsx'
import { MoreMenu } from '../../../ui/menu.tsx'
import { Page } from '../../../ui/page.tsx'
import { Empty, Loading, Refused, Stale } from '../../../ui/states.tsx'
import { Table } from '../../../ui/table.tsx'
import { columnsOf } from './columns.tsx'
import { Filters } from './filters.tsx'
import { AuditPanel } from './panel.tsx'
import { filterOf, type AuditSearch } from './search.ts'
import type { AuditRow } from '../../../parts/audit-sentence.ts'
import { useAudit, useNames } from './use-audit.ts'
import { VerifyDialog } from './verify-dialog.tsx'

const timeOf = ({ at }: AuditRow): string => at
const NONE: readonly AuditRow[] = []

/** The audit log: every change as a sentence, newest first, and the proof that nobody changed a row. */
export function Screen(): ReactElement {
  const [search, setSearch] = useSearchState<AuditSearch>()
  const { actor, agent, action, target, from, to } = search
  const filter = useMemo(
    () => filterOf({ actor, agent, action, target, from, to }),
    [actor, agent, action, target, from, to],
  )
  const asked = useAudit(filter)
  const nameOf = useNames()
  const [isVerifying, setVerifying] = useState(false)
  const rows = asked.rows ?? NONE
  const selected = rows.find(({ id }) => id === search.sel)
  const isOpen = selected !== undefined
  const columns = useMemo(() => columnsOf(nameOf, isOpen), [nameOf, isOpen])
  const here = rows.findIndex(({ id }) => id === search.sel)
  const open = (sel: string | undefined): void => setSearch({ sel })
  const step = (by: number): void => {
    const next = rows[Math.max(0, Math.min(rows.length - 1, here + by))]
    if (next !== undefined) open(next.id)
  }
  useKeys({
    j: () => step(1),
    k: () => step(-1),
    ArrowDown: () => step(1),
    ArrowUp: () => step(-1),
    Escape: () => open(undefined),
  })
  const change = (part: Partial<AuditSearch>): void => setSearch({ ...part, sel: undefined })
  return (
    <InSettings>
      <div
        className={`grid h-full min-h-0 grid-rows-[minmax(0,1fr)] ${isOpen ? 'grid-cols-[minmax(320px,1fr)_minmax(0,460px)] max-xl:grid-cols-1' : 'grid-cols-1'}`}
      >
        <div className={`min-h-0 min-w-0 ${isOpen ? 'max-xl:hidden' : ''}`}>
          <Page
            title="Audit log"
            actions={<Actions filter={filter} verify={() => setVerifying(true)} />}
            foot={asked.rows !== undefined && <Count rows={rows.length} hasMore={asked.hasNextPage} />}
          >
            <Filters search={search} actions={useActions(rows)} change={change} />
            {asked.error !== null && asked.rows !== undefined && (
              <Stale since={asked.dataUpdatedAt} error={asked.error} again={asked.refetch} />
            )}
            {asked.rows === undefined ? (
              asked.error === null ? (
                <Loading />
              ) : (
                <Refused error={asked.error} again={asked.refetch} />
              )
            ) : rows.length === 0 ? (
              <Empty title="No entries match">
                The audit log records every change in the workspace. Try a different filter.
              </Empty>
            ) : (
              <Table
                label="Audit log"
                columns={columns}
                rows={rows}
                idOf={({ id }) => id}
                at={search.sel}
                onGo={({ id }) => open(id)}
                timeOf={timeOf}
                onEnd={() => {
                  if (asked.hasNextPage && !asked.isFetching) void asked.fetchNextPage()
                }}
              />
            )}
          </Page>
        </div>
        {selected !== undefined && (
          <AuditPanel
            key={selected.id}
            row={selected}
            nameOf={nameOf}
            filter={change}
            onClose={() => open(undefined)}
          />
        )}
      </div>
      {isVerifying && <VerifyDialog onClose={() => setVerifying(false)} />}
    </InSettings>
  )
}

/** The actions of the rows that were read so far. */
function useActions(rows: readonly AuditRow[]): readonly string[] {
  return useMemo(() => [...new Set(rows.map(({ action }) => action))], [rows])
}

function Count({ rows, hasMore }: { readonly rows: number; readonly hasMore: boolean }): ReactElement {
  return (
    <span>
      {counted(rows, 'entry', 'entries')}
      {hasMore && ', more below'}
    </span>
  )
}

function Actions({
  filter,
  verify,
}: {
  readonly filter: ReturnType<typeof filterOf>
  readonly verify: () => void
}): ReactElement {
  const items = useCopyItemsOf()
  const asked = new URLSearchParams(filter).toString()
  return (
    <>
      <Button onClick={verify}>Verify</Button>
      <Button
        icon={<Download strokeWidth={1.5} />}
        onClick={() => location.assign(`/admin/api/audit.csv${asked === '' ? '' : `?${asked}`}`)}
      >
        CSV
      </Button>
      <MoreMenu
        items={items({
          route: routes.audit.list,
          query: filter,
        })}
      />
    </>
  )
}
