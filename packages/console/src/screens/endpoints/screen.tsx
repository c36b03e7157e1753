import { routes } from '@postroad/contract'
import { useState, type ReactElement } from 'react'
import { useAsk } from '../../data/ask.ts'
import { useSearchState } from '../../data/go.tsx'
import type { Webhook } from '../../data/names.ts'
import { useMay, usePlace } from '../../data/place.ts'
import { adminCurl, cli } from '../../parts/commands.ts'
import { every } from '../../parts/every.ts'
import { ResourceScreen, type ResourceSearch } from '../../parts/resource-screen.tsx'
import { Button } from '../../ui/button.tsx'
import { Empty, needs } from '../../ui/states.tsx'
import { COLUMNS, SLIM } from './columns.tsx'
import { CreateDialog } from './create-dialog.tsx'
import { EndpointDetail } from './detail.tsx'

const VIEWS = [
  { id: '', label: 'All', has: () => true },
  { id: 'signed', label: 'Signed', has: ({ verification }: Webhook) => verification.scheme !== 'none' },
  { id: 'open', label: 'Open', has: ({ verification }: Webhook) => verification.scheme === 'none' },
  { id: 'off', label: 'Off', has: ({ enabled }: Webhook) => !enabled },
] as const

/** Endpoints: the URLs that webhooks are sent to. */
export function Screen(): ReactElement {
  const [, setSearch] = useSearchState<ResourceSearch>()
  const { project } = usePlace()
  const may = useMay(routes.webhooks.create)
  const asked = useAsk(['webhooks', 'all'], (client, signal) => every(client.webhooks.list({ limit: 200 }, { signal })))
  const [isCreating, setCreating] = useState(false)
  const refused = may ? undefined : needs(routes.webhooks.create.role)
  return (
    <ResourceScreen
      title="Endpoints"
      one="endpoint"
      asked={asked}
      columns={COLUMNS}
      slim={SLIM}
      views={VIEWS}
      textOf={({ id, name, slug, dataset }) => [id, name, slug, dataset].join(' ')}
      create={{ label: 'New endpoint', open: setCreating, refused }}
      commands={[
        { label: 'Copy the list as curl', text: adminCurl({ project, path: 'webhooks' }) },
        { label: 'Copy the list as a CLI command', text: cli('endpoints list') },
      ]}
      detail={EndpointDetail}
      never={<Empty title="There is no endpoint here" actions={<Button kind="primary" hotkey="N" disabled={!may} title={refused} onClick={() => setCreating(true)}>New endpoint</Button>}>An endpoint is a URL of its own that a sender posts webhooks to. What comes is verified, stored before it is answered, and filed.</Empty>}
    >
      {isCreating && (
        <CreateDialog
          onClose={() => setCreating(false)}
          onMade={(sel) => {
            setCreating(false)
            setSearch({ sel, tab: 'setup', q: undefined, view: undefined })
          }}
        />
      )}
    </ResourceScreen>
  )
}
