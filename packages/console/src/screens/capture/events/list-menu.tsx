import { useMemo, useState, type ReactElement } from 'react'
import { usePlace } from '../../../data/place.ts'
import { usePatterns } from '../../../data/use-patterns.ts'
import { searchText } from '../../../data/search-text.ts'
import { FIELD } from '../../../parts/columns-dialog.tsx'
import { adminCurl } from '../../../parts/commands.ts'
import { useExactClient } from '../../../parts/exact-client.ts'
import { ExportDialog } from '../../../parts/export-dialog.tsx'
import { useCommands } from '../../../shell/palette-provider.tsx'
import { useCopy } from '../../../ui/copy.tsx'
import { MoreMenu } from '../../../ui/menu.tsx'
import { exportOf, pagesOf } from './export.ts'
import { placesOf, type Wanted } from './search.ts'
import type { useEvents } from './use-events.ts'

/** The actions for all events that the filter finds. */
export function ListMenu({
  events: { wanted, tail },
  shown,
}: {
  readonly events: ReturnType<typeof useEvents>
  readonly shown: readonly string[]
}): ReactElement {
  const { project } = usePlace()
  const [isExporting, setExporting] = useState(false)
  const client = useExactClient()
  const { matches } = usePatterns()
  const copy = useCopy()
  useCommands(useMemo(() => [{ label: 'Export the events', go: () => setExporting(true) }], []))
  return (
    <>
      <MoreMenu
        items={[
          { label: 'Export…', go: () => setExporting(true) },
          {
            label: 'Copy the list as curl',
            go: () => void copy(adminCurl({ project, path: pathOf(wanted) }), 'Command copied'),
          },
        ]}
      />
      {isExporting && (
        <ExportDialog
          source={exportOf({
            name: 'events',
            text: 'All events that match the filter in this time range, newest first.',
            paths: fieldsIn(shown),
            pages: (signal) => pagesOf(client, { wanted, tail, matches, signal }),
          })}
          onClose={() => setExporting(false)}
        />
      )}
    </>
  )
}

/** The paths among the columns. */
export function fieldsIn(shown: readonly string[]): readonly string[] {
  return shown.filter((id) => id.startsWith(FIELD)).map((id) => id.slice(FIELD.length))
}

/** The same list as a request of the API. */
function pathOf({ view, f, q, dataset, webhook, destination, rule, state, from, to }: Wanted): string {
  const times = {
    from: from === undefined ? undefined : new Date(from).toISOString(),
    to: to === undefined ? undefined : new Date(to).toISOString(),
  }
  if (view === 'rejected') return `rejections${searchText({ webhook_id: webhook, ...times })}`
  const states = state ?? (view === 'failing' ? 'failed,retrying,stuck' : undefined)
  return `search/events${searchText({ f, q, in: placesOf(q), dataset, webhook, destination, rule, state: states, ...times })}`
}
