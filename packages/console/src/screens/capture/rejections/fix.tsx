import { routes } from '@postroad/contract'
import type { ReactElement } from 'react'
import { useChange } from '../../../data/ask.ts'
import type { Webhook } from '../../../data/lists.ts'
import { useRefusal } from '../../../data/place.ts'
import type { Rejection } from '../../../data/tail.ts'
import { Button } from '../../../ui/button.tsx'
import { RefusedLine } from '../../../ui/states.tsx'
import { useToast } from '../../../ui/toast.tsx'
import type { Cause } from '../../../parts/causes.ts'

type Props = { readonly webhook: Webhook; readonly rows: readonly Rejection[]; readonly remedy: Cause['remedy'] }

const ADDRESSES_SHOWN = 5

/** The remedies that take one press and do not leave the cause. */
export function Mend({ webhook, rows, remedy }: Props): ReactElement | null {
  if (remedy === 'enable')
    return webhook.enabled ? <p className="text-ink-3">The endpoint is on now.</p> : <SwitchOn webhook={webhook} />
  if (remedy === 'address') return <Addresses webhook={webhook} rows={rows} />
  return null
}

function SwitchOn({ webhook: { id } }: { readonly webhook: Webhook }): ReactElement {
  const refusal = useRefusal(routes.webhooks.update)
  const may = refusal === undefined
  const toast = useToast()
  const change = useChange(['webhooks'], (client) => client.webhooks.update({ id, enabled: true }))
  return (
    <div className="py-1">
      <RefusedLine error={change.error} />
      <Button
        disabled={!may || change.isPending}
        title={refusal}
        onClick={() =>
          change.mutate(undefined, {
            onSuccess: () => toast({ text: 'Turned on. The change applies from the next request.' }),
          })
        }
      >
        Turn on
      </Button>
    </div>
  )
}

function Addresses({
  webhook,
  rows,
}: {
  readonly webhook: Webhook
  readonly rows: readonly Rejection[]
}): ReactElement {
  const refusal = useRefusal(routes.webhooks.update)
  const may = refusal === undefined
  const toast = useToast()
  const change = useChange(['webhooks'], async (client, address: string) => {
    // Reads the current list, because another person may have changed it. An empty list allows any address already.
    const { ip_allowlist } = (await client.webhooks.get({ id: webhook.id })).webhook
    if (ip_allowlist.length > 0 && !ip_allowlist.includes(address))
      await client.webhooks.update({ id: webhook.id, ip_allowlist: [...ip_allowlist, address] })
  })
  if (webhook.ip_allowlist.length === 0) return <p className="text-ink-3">The endpoint allows any address now.</p>
  const seen = [...new Set(rows.flatMap(({ source_ip }) => (source_ip === null ? [] : [source_ip])))]
  const outside = seen.filter((address) => !webhook.ip_allowlist.includes(address)).slice(0, ADDRESSES_SHOWN)
  const inside = seen.filter((address) => webhook.ip_allowlist.includes(address)).slice(0, ADDRESSES_SHOWN)
  return (
    <div className="py-1">
      <RefusedLine error={change.error} />
      <div className="flex flex-wrap items-center gap-2">
        {outside.map((address) => (
          <Button
            key={address}
            disabled={!may || change.isPending}
            title={may ? 'Only if it is one of your senders' : refusal}
            onClick={() =>
              change.mutate(address, {
                onSuccess: () => toast({ text: `${address} is allowed from the next request.` }),
              })
            }
          >
            Allow {address}
          </Button>
        ))}
        {inside.map((address) => (
          <span key={address} className="text-ink-3">
            {address} is allowed now
          </span>
        ))}
      </div>
    </div>
  )
}
