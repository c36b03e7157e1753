import type { ReactElement } from 'react'
import { useAsk } from '../../../data/ask.ts'
import { useSearchState } from '../../../data/go.tsx'
import type { Search } from '../../../data/search-text.ts'
import { SettingsPage } from '../../../parts/settings-page.tsx'
import { Loading, Refused, Stale } from '../../../ui/states.tsx'
import { Meters } from './meters.tsx'
import { Payments } from './payments.tsx'

type BillingSearch = Search & { readonly paid?: string }

const EVERY_MS = 15_000
/** The interval of reads after a payment, when the person waits for the plan. */
const EVERY_MS_AFTER_PAYING = 2_000

/** The plan of the workspace, its usage, and the subscription that pays for it. */
export function Screen(): ReactElement {
  const [{ paid }] = useSearchState<BillingSearch>()
  const asked = useAsk(['billing'], (client, signal) => client.billing.get(undefined, { signal }), {
    everyMs: paid === undefined ? EVERY_MS : EVERY_MS_AFTER_PAYING,
  })
  const billing = asked.data?.billing
  return (
    <SettingsPage title="Billing">
      {asked.error !== null && billing !== undefined && (
        <Stale since={asked.dataUpdatedAt} error={asked.error} again={asked.refetch} />
      )}
      {billing === undefined ? (
        asked.error === null ? (
          <Loading rows={4} height={72} />
        ) : (
          <Refused error={asked.error} again={asked.refetch} />
        )
      ) : (
        <div
          className="min-h-0 flex-1 overflow-y-auto border-t border-line"
          role="group"
          aria-label="Billing"
          tabIndex={0}
        >
          {paid !== undefined && billing.plan.name !== paid && (
            <p role="status" className="border-b border-line bg-sunken px-[18px] py-3">
              The payment was sent. The plan changes when the payment provider confirms it, usually within seconds.
            </p>
          )}
          <Meters of={billing} />
          <Payments of={billing} />
        </div>
      )}
    </SettingsPage>
  )
}
