import { LIMITS, routes } from '@postroad/contract'
import { ExternalLink } from 'lucide-react'
import { useState, type ReactElement } from 'react'
import { useChange } from '../../../data/ask.ts'
import type { Portal, PortalCustomer } from '../../../data/lists.ts'
import { LinkOnce } from '../../../parts/link-once.tsx'
import { CreateWindow } from '../../../parts/create-window.tsx'
import { Field, Select } from '../../../ui/field.tsx'
import { Countdown } from '../../../ui/time.tsx'

const HOUR_S = 3_600
const LIVES = [
  { seconds: 24 * HOUR_S, label: '1 day' },
  { seconds: 7 * 24 * HOUR_S, label: '7 days' },
  { seconds: 30 * 24 * HOUR_S, label: '30 days' },
  { seconds: HOUR_S, label: '1 hour' },
] as const

type Props = {
  readonly portal: Portal
  /** Absent: the link is for a new customer. */
  readonly customer: PortalCustomer | undefined
  readonly onClose: () => void
}

/** Creates the link with which a customer enters the portal, and shows it once. */
export function LinkDialog({ portal, customer, onClose }: Props): ReactElement {
  const [customerId, setCustomerId] = useState(customer?.customer_id ?? '')
  const [name, setName] = useState('')
  const [seconds, setSeconds] = useState<number>(LIMITS.portalTokenSecondsDefault)
  const body = {
    customer_id: customerId.trim(),
    expires_in: seconds,
    ...(name.trim() === '' ? {} : { customer_name: name.trim() }),
  }
  const create = useChange(['portalTokens', 'portalCustomers', 'portals'], (client, sent: typeof body) =>
    client.portalTokens.create({ id: portal.id, ...sent }),
  )
  if (create.data !== undefined) return <Made {...create.data} onClose={onClose} />
  return (
    <CreateWindow
      title={customer === undefined ? 'New customer' : `A link for ${customer.name ?? customer.customer_id}`}
      lead="Anyone with the link can manage this customer’s destinations until the link expires or you revoke it."
      read={body.customer_id === '' ? { problem: 'Enter the ID of the customer.' } : { body }}
      call={(sent) => ({ route: routes.portalTokens.create, params: { id: portal.id }, body: sent })}
      submit={(sent) => create.mutate(sent)}
      change={create}
      verb="Create link"
      onClose={onClose}
    >
      {customer === undefined && (
        <>
          <Field
            label="Your ID for the customer"
            required
            maxLength={LIMITS.customerIdCharsMax}
            placeholder="acct_42"
            className="mono text-data"
            value={customerId}
            onChange={({ target }) => setCustomerId(target.value)}
            hint="Events identify the customer by this ID. Set its location in the endpoint’s criteria and mappings."
          />
          <Field
            label="Name"
            maxLength={LIMITS.nameCharsMax}
            placeholder="Northwind Traders"
            value={name}
            onChange={({ target }) => setName(target.value)}
          />
        </>
      )}
      <Select label="Valid for" value={seconds} onChange={({ target }) => setSeconds(Number(target.value))}>
        {LIVES.toSorted((a, b) => a.seconds - b.seconds).map((one) => (
          <option key={one.seconds} value={one.seconds}>
            {one.label}
          </option>
        ))}
      </Select>
    </CreateWindow>
  )
}

function Made({
  url,
  expires_at,
  onClose,
}: {
  readonly url: string
  readonly expires_at: string
  readonly onClose: () => void
}): ReactElement {
  return (
    <LinkOnce
      title="The link is ready"
      lead="Give the link only to this customer. It is shown once."
      link={url}
      note="Postroad stores only a hash of its token, so you cannot see the link again."
      action={
        <a
          href={url}
          target="_blank"
          rel="noopener noreferrer"
          className="mr-auto inline-flex h-7 items-center gap-[7px] rounded-button border border-line-2 bg-surface px-2.5 font-control hover:bg-sunken"
        >
          <ExternalLink className="size-3.5 text-ink-2" strokeWidth={1.5} aria-hidden />
          Open as this customer
        </a>
      }
      onClose={onClose}
    >
      <p className="text-ink-3">
        Expires <Countdown to={expires_at} />.
      </p>
    </LinkOnce>
  )
}
