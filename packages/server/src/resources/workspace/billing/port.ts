import type { Subscription } from '../../../domain/workspace/subscription.ts'

export type Price = { readonly amount: number; readonly currency: string; readonly interval: Interval }
type Interval = 'day' | 'week' | 'month' | 'year'

/** The operations of a payment provider. Every method rejects when the provider does not answer correctly. */
export type PaymentProvider = {
  /** The plans that can be bought, and the ids of their prices. */
  readonly prices: Readonly<Record<string, string>>
  price(id: string): Promise<Price>
  /** Creates the customer of a workspace; the same one when it is asked again within a day. */
  createCustomer(of: { readonly workspaceId: string; readonly name: string }): Promise<string>
  /** The page where a customer buys a plan. */
  checkout(of: {
    readonly customerId: string
    readonly priceId: string
    readonly successUrl: string
    readonly cancelUrl: string
  }): Promise<string>
  /** The page where a customer manages the subscription. */
  portal(of: { readonly customerId: string; readonly returnUrl: string }): Promise<string>
  /** The subscription that counts for a customer: an open one before an ended one, then the newest. */
  findSubscription(customerId: string): Promise<Subscription | undefined>
  /** Stops the renewal of the subscription, which ends with its period. */
  endAtPeriodEnd(subscriptionId: string): Promise<void>
  /** Reads a stored event; undefined: it is not an event of this provider. */
  readEvent(body: string): BillingEvent | undefined
}

export type BillingEvent = {
  readonly id: string
  readonly type: string
  /** The customer whose subscription the event may have changed; null: it changes none. */
  readonly customerId: string | null
}
