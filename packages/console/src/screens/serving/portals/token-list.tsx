import { routes, type RouteAnswer, type Routes } from '@postroad/contract'
import { useState, type ReactElement, type ReactNode } from 'react'
import { useAsk } from '../../../data/ask.ts'
import type { Portal, PortalCustomer } from '../../../data/lists.ts'
import { useRefusal } from '../../../data/place.ts'
import { RemoveDialog, type Removal } from '../../../parts/remove-dialog.tsx'
import { Ago } from '../../../ui/ago.tsx'
import { Button } from '../../../ui/button.tsx'
import { Glyph } from '../../../ui/glyph.tsx'
import { RefusedLine } from '../../../ui/states.tsx'
import { Countdown } from '../../../ui/time.tsx'

type Token = RouteAnswer<Routes['portalTokens']['list']>['portal_tokens'][number]

/** A customer has at most this many tokens (`tokensPerCustomerMax`). */
const SHOWN = 100

/** The links of a customer that exist, without the links themselves. */
export function TokenList({
  portal,
  customer,
}: {
  readonly portal: Portal
  readonly customer: PortalCustomer
}): ReactElement | null {
  const [removing, setRemoving] = useState<Token | undefined>()
  const refusal = useRefusal(routes.portalTokens.remove)
  const may = refusal === undefined
  const asked = useAsk(['portalTokens', 'of', customer.id], (client, signal) =>
    client.portalTokens.list({ id: portal.id, customer: customer.id, limit: SHOWN }, { signal }),
  )
  const tokens = asked.data?.portal_tokens
  if (tokens === undefined) return <RefusedLine error={asked.error} />
  if (tokens.length === 0) return <p className="text-ink-3">This customer has no links.</p>
  return (
    <>
      <ul aria-label="Links" className="rounded-field border border-line bg-surface">
        {tokens.map((token) => (
          <Line key={token.id} of={token}>
            <Button className="ml-auto" kind="quiet" disabled={!may} title={refusal} onClick={() => setRemoving(token)}>
              {endingOf(token).verb}…
            </Button>
          </Line>
        ))}
      </ul>
      {removing !== undefined && (
        <RemoveDialog
          name="this link"
          removal={{
            ...endingOf(removing),
            rooms: ['portalTokens', 'portalCustomers'],
            run: (client) => client.portalTokens.remove({ id: portal.id, token: removing.id }),
          }}
          onClose={() => setRemoving(undefined)}
          onRemoved={() => setRemoving(undefined)}
        />
      )}
    </>
  )
}

function Line({
  of: { shown_prefix, status, expires_at, last_used_at, created_at },
  children,
}: {
  readonly of: Token
  readonly children: ReactNode
}): ReactElement {
  return (
    <li className="flex min-h-10 flex-wrap items-center gap-x-4 gap-y-1 border-b border-line/55 px-3 py-1.5 last:border-b-0">
      <Glyph tone={status === 'active' ? 'ok' : 'rejected'} label={status} />
      <span className="mono text-data">{shown_prefix}…</span>
      <span className="text-ink-3">
        {status === 'active' ? (
          <>
            expires <Countdown to={expires_at} />
          </>
        ) : (
          <>
            expired <Ago at={expires_at} />
          </>
        )}
      </span>
      <span className="text-ink-3">
        {last_used_at === null ? (
          'never used'
        ) : (
          <>
            used <Ago at={last_used_at} />
          </>
        )}
      </span>
      <span className="text-ink-3">
        created <Ago at={created_at} />
      </span>
      {children}
    </li>
  )
}

/** The server already refuses an expired link, so its removal only clears the list. */
function endingOf({ status }: Token): Pick<Removal, 'verb' | 'text'> {
  return status === 'active'
    ? {
        verb: 'Revoke',
        text: 'The link and all its sessions stop working immediately. The customer’s destinations are not deleted.',
      }
    : { verb: 'Remove', text: 'The link has expired. Postroad removes it from this list.' }
}
