import { LIMITS } from '@postroad/contract'

/** A subscription as the payment provider knows it now. */
export type Subscription = {
  readonly id: string
  readonly state: 'incomplete' | 'trialing' | 'active' | 'past_due' | 'unpaid' | 'paused' | 'canceled'
  readonly price_id: string | null
  readonly period_end: Date | null
  readonly ends_at_period_end: boolean
}

const DAY_MS = 86_400_000

/** The plan of a workspace whose subscription has ended. */
export const UNPAID_PLAN = 'free'

/** The time at which a workspace loses its plan, if its payment has failed since `pastDueSince`. */
export function graceEndsAt(pastDueSince: Date): Date {
  return new Date(pastDueSince.getTime() + LIMITS.billingGraceDays * DAY_MS)
}

/** The plan that a subscription pays for at this moment; null: none. A failed payment gets a grace period. */
export function paidPlan(of: {
  subscription: Subscription
  prices: Readonly<Record<string, string>>
  pastDueSince: Date | null
  now: Date
}): string | null {
  const { subscription, prices, pastDueSince, now } = of
  const plan = Object.keys(prices).find((name) => prices[name] === subscription.price_id) ?? null
  switch (subscription.state) {
    case 'active':
    case 'trialing':
      return plan
    case 'past_due':
      return pastDueSince !== null && now >= graceEndsAt(pastDueSince) ? null : plan
    case 'incomplete':
    case 'unpaid':
    case 'paused':
    case 'canceled':
      return null
    default:
      return subscription.state satisfies never
  }
}

/** Whether the provider still collects payments for it, so that a second one would be paid twice. */
export function isOpen(state: string): boolean {
  return state === 'active' || state === 'trialing' || state === 'past_due' || state === 'unpaid' || state === 'paused'
}

/**
 * The count at the end of a period, at the average pace since its start, or since the workspace was made. Null during the
 * first day: one burst is not a trend.
 */
export function projected(
  used: number,
  of: { readonly start: number; readonly end: number; readonly began: number; readonly now: number },
): number | null {
  const elapsed = of.now - Math.max(of.start, of.began)
  return elapsed < DAY_MS ? null : used + Math.round((used * (of.end - of.now)) / elapsed)
}
