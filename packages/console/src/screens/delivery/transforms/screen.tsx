import { routes } from '@postroad/contract'
import type { ReactElement } from 'react'
import { useAllTransforms, type Transform } from '../../../data/lists.ts'
import { ResourceScreen } from '../../../parts/resource-screen.tsx'
import { counted } from '../../../parts/text-list.ts'
import { Ago } from '../../../ui/ago.tsx'
import { TwoLines, type Column } from '../../../ui/table.tsx'
import { CreateDialog } from './create-dialog.tsx'
import { TransformDetail } from './detail.tsx'
import { languageName } from './language.ts'

const NAME: Column<Transform> = {
  id: 'name',
  label: 'Transform',
  width: 'minmax(140px,1.6fr)',
  plain: true,
  cell: ({ name, language, version }) => (
    <TwoLines top={name} below={`${languageName(language)}, version ${version}`} />
  ),
}

const COLUMNS: readonly Column<Transform>[] = [
  NAME,
  {
    id: 'used',
    label: 'Used by',
    width: 'minmax(120px,1fr)',
    cell: ({ used_by: users }) =>
      users.length === 0 ? (
        <span className="text-ink-3">nothing</span>
      ) : (
        <span className="truncate text-ink-2">
          {users.length === 1 ? users[0]?.name : counted(users.length, 'destination')}
        </span>
      ),
  },
  {
    id: 'changed',
    label: 'Changed',
    width: '110px',
    align: 'right',
    cell: ({ updated_at }) => (
      <span className="text-data text-ink-2">
        <Ago at={updated_at} />
      </span>
    ),
  },
]

const VIEWS = [
  { id: '', label: 'All', has: () => true },
  { id: 'unused', label: 'Unused', has: ({ used_by: users }: Transform) => users.length === 0 },
] as const

/** Transforms: code that changes what destinations get. */
export function Screen(): ReactElement {
  return (
    <ResourceScreen
      title="Transforms"
      one="transform"
      asked={useAllTransforms()}
      columns={COLUMNS}
      slim={[NAME]}
      views={VIEWS}
      textOf={({ id, name }) => [id, name].join(' ')}
      create={{ label: 'New transform', route: routes.transforms.create, dialog: CreateDialog }}
      path="transforms"
      detail={TransformDetail}
      never={{
        title: 'No transforms yet',
        text: 'A transform is JavaScript or TypeScript that changes the body and the headers of the requests to a destination, or decides that an event is not sent. It runs in a sandbox. Test it on past events before you save it.',
      }}
    />
  )
}
