import type { ReactElement } from 'react'
import { useChange } from '../../../data/ask.ts'
import { To } from '../../../data/go.tsx'
import { usePlace } from '../../../data/place.ts'
import { Button } from '../../../ui/button.tsx'
import { utcDateText } from '../../../ui/moments.ts'
import { RefusedLine } from '../../../ui/states.tsx'
import { planText } from '../../../parts/plan-text.ts'
import { count, type Billing } from './text.ts'

type Paid = NonNullable<Billing['payments']>
type Offer = Paid['plans'][number]

/** The states of a subscription that its owner changes at the payment provider. */
const OPEN = new Set<string>(['active', 'trialing', 'past_due', 'unpaid', 'paused'])

/** The subscription and the plans that can be bought. Without a payment provider, the way to another plan. */
export function Payments({ of }: { readonly of: Billing }): ReactElement {
  if (of.payments === null) return <NoProvider />
  return <Provider payments={of.payments} plan={of.plan.name} />
}

function NoProvider(): ReactElement {
  const { me } = usePlace()
  return (
    <section aria-label="Change plan" className="px-[18px] py-5">
      <h2 className="text-lead font-title">Change plan</h2>
      <p className="mt-1 max-w-[60ch] text-ink-3">
        This installation does not accept payments.{' '}
        {me.operator ? (
          <>
            Change the plan under{' '}
            <To screen="operator" className="text-accent underline">
              Operators
            </To>
            .
          </>
        ) : (
          'Ask an installation operator to change the plan.'
        )}
      </p>
    </section>
  )
}

function Provider({ payments, plan }: { readonly payments: Paid; readonly plan: string }): ReactElement {
  const { subscription, plans } = payments
  const isOpen = OPEN.has(subscription.state)
  const buy = useChange(['billing'], (client, name: string) => client.billing.checkout({ plan: name }))
  const manage = useChange(['billing'], (client, _none: undefined) => client.billing.openPortal())
  const leave = { onSuccess: ({ page_url }: { readonly page_url: string }) => location.assign(page_url) }
  const text = stateText(subscription)
  return (
    <section aria-label="Subscription" className="px-[18px] py-5">
      <h2 className="text-lead font-title">Subscription</h2>
      <p className={`mt-1 max-w-[60ch] ${subscription.state === 'past_due' ? 'text-fail' : 'text-ink-3'}`}>{text}</p>
      <div className="mt-3 flex max-w-xl flex-col gap-3">
        {subscription.state !== 'none' && (
          <Button className="self-start" disabled={manage.isPending} onClick={() => manage.mutate(undefined, leave)}>
            Manage subscription
          </Button>
        )}
        <RefusedLine error={buy.error ?? manage.error} />
      </div>
      {!isOpen && (
        <ul className="mt-5 grid max-w-3xl grid-cols-[repeat(auto-fit,minmax(240px,1fr))] gap-4">
          {plans.map((offer) => (
            <li key={offer.name} className="rounded-field border border-line p-4">
              <h3 className="font-title">{planText(offer.name)}</h3>
              <p className="mt-1">{priceText(offer.price)}</p>
              <p className="mt-1 text-ink-3">{limitsText(offer)}</p>
              <Button
                kind="primary"
                className="mt-3"
                disabled={buy.isPending || offer.name === plan}
                title={offer.name === plan ? 'This is the current plan.' : undefined}
                onClick={() => buy.mutate(offer.name, leave)}
              >
                Upgrade to {planText(offer.name)}
              </Button>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

function stateText({ state, period_end: end, ...of }: Paid['subscription']): string {
  const until = end === null ? '' : ` on ${utcDateText(end)}`
  switch (state) {
    case 'active':
    case 'trialing':
      return of.ends_at_period_end
        ? `Canceled. The plan ends${until}. There are no further charges.`
        : `Active. Renews${until}.`
    case 'past_due':
      return `The last payment failed. The plan remains active until ${of.grace_ends_at === null ? 'the grace period ends' : utcDateText(of.grace_ends_at)}. Check the payment method.`
    case 'unpaid':
    case 'paused':
      return 'The subscription is not paid. Check the payment method to restore the plan.'
    case 'incomplete':
      return 'The first payment is not complete yet.'
    case 'canceled':
      return 'The subscription has ended.'
    case 'none':
      return 'There is no subscription.'
    default:
      return state satisfies never
  }
}

function priceText(price: Offer['price']): string {
  if (price === null) return 'The price is not available right now. See the payment page.'
  const currency = price.currency.toUpperCase()
  const format = new Intl.NumberFormat('en', { style: 'currency', currency })
  const digits = format.resolvedOptions().maximumFractionDigits ?? 2
  return `${format.format(price.amount / 10 ** digits)} a ${price.interval}`
}

const of = (value: number | null, what: string): string => `${value === null ? 'any number of' : count(value)} ${what}`

function limitsText({ limits }: Offer): string {
  const { events_per_month, deliveries_per_month, members, retention_days } = limits
  return `${of(events_per_month, 'events')} and ${of(deliveries_per_month, 'deliveries')} a month, ${of(members, 'members')}, ${retention_days} days of storage`
}
