import { routes } from '@postroad/contract'
import type { ReactElement } from 'react'
import { useAllWebhooks, type Webhook } from '../../../data/lists.ts'
import { ResourceScreen } from '../../../parts/resource-screen.tsx'
import { COLUMNS, SLIM } from './columns.tsx'
import { CreateDialog } from './create-dialog.tsx'
import { EndpointDetail } from './detail.tsx'

const VIEWS = [
  { id: '', label: 'All', has: () => true },
  { id: 'signed', label: 'Signed', has: ({ verification }: Webhook) => verification.scheme !== 'none' },
  {
    id: 'open',
    label: 'Open',
    has: ({ verification, ip_allowlist }: Webhook) => verification.scheme === 'none' && ip_allowlist.length === 0,
  },
  { id: 'off', label: 'Off', has: ({ enabled }: Webhook) => !enabled },
] as const

/** Endpoints: the URLs that webhooks are sent to. */
export function Screen(): ReactElement {
  const asked = useAllWebhooks()
  return (
    <ResourceScreen
      title="Endpoints"
      one="endpoint"
      asked={asked}
      columns={COLUMNS}
      slim={SLIM}
      views={VIEWS}
      textOf={({ id, name, slug, dataset }) => [id, name, slug, dataset].join(' ')}
      create={{ label: 'New endpoint', route: routes.webhooks.create, dialog: CreateDialog, tab: 'setup' }}
      path="webhooks"
      detail={EndpointDetail}
      never={{
        title: 'No endpoints yet',
        text: 'An endpoint is a URL that a sender posts webhooks to. Postroad verifies each request, stores it before it responds, and writes its payload to a dataset.',
      }}
    />
  )
}
