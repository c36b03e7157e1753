import { routes } from '@postroad/contract'
import { useState, type ReactElement } from 'react'
import { useAsk } from '../../../data/ask.ts'
import type { Portal, PortalCustomer } from '../../../data/lists.ts'
import { useRefusal } from '../../../data/place.ts'
import { RemoveDialog } from '../../../parts/remove-dialog.tsx'
import { counted } from '../../../parts/text-list.ts'
import { Ago } from '../../../ui/ago.tsx'
import { Button } from '../../../ui/button.tsx'
import { Empty, Loading, Refused, Stale } from '../../../ui/states.tsx'
import { LinkDialog } from './link-dialog.tsx'
import { TokenList } from './token-list.tsx'

const SHOWN = 200

/** The customers of a portal, and the links with which they enter it. */
export function CustomersTab({ portal }: { readonly portal: Portal }): ReactElement {
  const [wanted, setWanted] = useState('')
  const [linking, setLinking] = useState<PortalCustomer | 'new' | undefined>()
  const refusal = useRefusal(routes.portalTokens.create)
  const may = refusal === undefined
  const asked = useAsk(
    ['portalCustomers', 'of', portal.id, wanted],
    (client, signal) =>
      client.portalCustomers.list(
        { id: portal.id, limit: SHOWN, ...(wanted === '' ? {} : { customer_id: wanted }) },
        { signal },
      ),
    { keep: true },
  )
  const isMore = typeof asked.data?.next_cursor === 'string'
  const isFull = portal.serves === 'one_customer' && portal.customer_count > 0
  return (
    <>
      {asked.error !== null && asked.data !== undefined && (
        <Stale since={asked.dataUpdatedAt} error={asked.error} again={asked.refetch} />
      )}
      <div className="flex flex-wrap items-center gap-2 border-b border-line px-5 py-3">
        <p className="mr-auto min-w-0 text-ink-3">
          {isFull
            ? 'This portal serves one customer.'
            : 'Each customer opens the portal with a link that you create here or with the API.'}
        </p>
        {(isMore || wanted !== '') && (
          <input
            aria-label="Find by your ID"
            placeholder="Your ID"
            value={wanted}
            onChange={({ target }) => setWanted(target.value.trim())}
            className="h-7 w-36 rounded-button border border-line-2 bg-surface px-2"
          />
        )}
        {!isFull && (
          <Button
            kind={portal.customer_count === 0 ? 'normal' : 'primary'}
            disabled={!may}
            title={refusal}
            onClick={() => setLinking('new')}
          >
            New customer
          </Button>
        )}
      </div>
      {asked.data === undefined ? (
        asked.error === null ? (
          <Loading rows={6} height={48} />
        ) : (
          <Refused error={asked.error} again={asked.refetch} />
        )
      ) : asked.data.customers.length === 0 ? (
        <NoCustomer isSearch={wanted !== ''} onCreate={may ? () => setLinking('new') : undefined} />
      ) : (
        <ul aria-label="Customers">
          {asked.data.customers.map((customer) => (
            <Row key={customer.id} portal={portal} customer={customer} may={may} onLink={() => setLinking(customer)} />
          ))}
        </ul>
      )}
      {isMore && <p className="px-5 py-3 text-ink-3">The newest {SHOWN} are shown. Find others by your own ID.</p>}
      {linking !== undefined && (
        <LinkDialog
          portal={portal}
          customer={linking === 'new' ? undefined : linking}
          onClose={() => setLinking(undefined)}
        />
      )}
    </>
  )
}

function NoCustomer({
  isSearch,
  onCreate,
}: {
  readonly isSearch: boolean
  readonly onCreate: (() => void) | undefined
}): ReactElement {
  if (isSearch) return <Empty title="No customer has this ID">The search matches complete IDs only.</Empty>
  return (
    <Empty
      title="No customers yet"
      actions={
        onCreate !== undefined && (
          <Button kind="primary" onClick={onCreate}>
            Create first link
          </Button>
        )
      }
    >
      A customer appears here when you create their first link.
    </Empty>
  )
}

type RowProps = {
  readonly portal: Portal
  readonly customer: PortalCustomer
  readonly may: boolean
  readonly onLink: () => void
}

function Row({ portal, customer, may, onLink }: RowProps): ReactElement {
  const [isOpen, setOpen] = useState(false)
  const [isRemoving, setRemoving] = useState(false)
  const { id, customer_id, name, destination_count, token_count, created_at } = customer
  return (
    <li className="border-b border-line/55">
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary className="flex min-h-12 flex-wrap items-center gap-x-4 gap-y-1 px-5 py-1.5 outline-offset-[-2px] hover:bg-hover">
          <span className="min-w-0 flex-1 basis-40 max-md:basis-[calc(100%-40px)]">
            <b className="block truncate font-control">{name ?? customer_id}</b>
            {name !== null && <span className="mono block truncate text-meta text-ink-3">{customer_id}</span>}
          </span>
          <span className="text-ink-2 max-md:ml-[30px]">{counted(destination_count, 'destination')}</span>
          <span className="text-ink-2">{counted(token_count, 'active link')}</span>
          <span className="text-ink-3">
            created <Ago at={created_at} />
          </span>
        </summary>
        {isOpen && (
          <div className="border-t border-line/55 bg-sunken px-5 py-3">
            <TokenList portal={portal} customer={customer} />
            <div className="mt-3 flex flex-wrap gap-2">
              <Button disabled={!may} onClick={onLink}>
                Create a link
              </Button>
              <Button kind="danger" disabled={!may} onClick={() => setRemoving(true)}>
                Delete customer…
              </Button>
            </div>
          </div>
        )}
      </details>
      {isRemoving && (
        <RemoveDialog
          name={name ?? customer_id}
          removal={{
            verb: 'Delete',
            text: 'Postroad also deletes the customer’s destinations and links, and cancels waiting deliveries. Open sessions end immediately.',
            rooms: ['portalCustomers', 'portals', 'destinations', 'deliveries'],
            run: (client) => client.portalCustomers.remove({ id: portal.id, customer: id }),
          }}
          onClose={() => setRemoving(false)}
          onRemoved={() => setRemoving(false)}
        />
      )}
    </li>
  )
}
