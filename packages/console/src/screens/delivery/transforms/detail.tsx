import { routes } from '@postroad/contract'
import type { ReactElement } from 'react'
import { useAsk } from '../../../data/ask.ts'
import { useMay } from '../../../data/place.ts'
import type { Transform } from '../../../data/lists.ts'
import { CopyMeta } from '../../../parts/detail.tsx'
import { ResourceDetail, useTab } from '../../../parts/resource-detail.tsx'
import { counted } from '../../../parts/text-list.ts'
import { Chip } from '../../../ui/glyph.tsx'
import { Loading, Refused } from '../../../ui/states.tsx'
import { CodeTab } from './code-tab.tsx'
import { VersionsTab } from './versions-tab.tsx'

const TABS = [
  { id: 'code', label: 'Code', of: CodeTab },
  { id: 'versions', label: 'Versions', of: VersionsTab },
] as const

/** One transform: its code beside a test on past events, and its versions. */
export function TransformDetail({
  row,
  onClose,
}: {
  readonly row: Transform
  readonly onClose: () => void
}): ReactElement {
  const { id, name, version, used_by: users } = row
  const may = useMay(routes.transforms.remove)
  const { of: Tab } = useTab(TABS)
  const asked = useAsk(['transforms', 'one', id, version], (client, signal) =>
    client.transforms.get({ id }, { signal }),
  )
  return (
    <ResourceDetail
      label="Transform"
      name={name}
      path={`transforms/${id}`}
      chip={<Chip tone={users.length === 0 ? 'none' : 'ok'}>{usedText(users.length)}</Chip>}
      onClose={onClose}
      meta={
        <>
          {users.length > 0 && <span className="truncate">{users.map((user) => user.name).join(', ')}</span>}
          <CopyMeta text={id} label="Copy ID" />
        </>
      }
      copied={{ label: 'Copy ID', text: id, said: 'ID copied' }}
      actions={null}
      items={({ calls, copied, link, remove }) => [...calls, copied, link, 'line', remove]}
      tabs={TABS}
      remove={{
        verb: 'Delete',
        text: 'Postroad deletes the transform with all its versions. It is refused while a destination runs it.',
        may,
        rooms: ['transforms', 'deletions'],
        run: (client) => client.transforms.remove({ id }),
      }}
    >
      {asked.data === undefined ? <Waiting asked={asked} /> : <Tab transform={asked.data.transform} />}
    </ResourceDetail>
  )
}

const usedText = (count: number): string => (count === 0 ? 'unused' : counted(count, 'destination'))

function Waiting({
  asked,
}: {
  readonly asked: { readonly error: Error | null; readonly refetch: () => unknown }
}): ReactElement {
  return asked.error === null ? <Loading rows={6} /> : <Refused error={asked.error} again={asked.refetch} />
}
