import type { Ctx } from '../../../context.ts'
import { refuse } from '../../../domain/refusal.ts'
import type { PaymentProvider } from './port.ts'

type Of = Pick<Ctx, 'config' | 'outbound' | 'clock'>

const opened = new WeakMap<object, Promise<PaymentProvider>>()

/** The configured provider, whose library is loaded on first use; undefined when there is none. */
export async function providerOf(deps: Of): Promise<PaymentProvider | undefined> {
  const { STRIPE_SECRET_KEY: key, STRIPE_PRICES: prices, STRIPE_API_URL: url } = deps.config
  if (key === undefined || prices === undefined) return undefined
  const known = opened.get(deps.config)
  if (known !== undefined) return known
  const made = import('./stripe.ts').then(({ createStripe }) =>
    createStripe({ key, prices, url, outbound: deps.outbound, now: () => deps.clock.now() }),
  )
  opened.set(deps.config, made)
  return made
}

/** Like `providerOf`, for a verb that needs a provider. */
export async function requireProvider(deps: Of): Promise<PaymentProvider> {
  const provider = await providerOf(deps)
  if (provider === undefined) throw refuse('billing_not_configured')
  return provider
}

/** Asks the provider while a person waits: a failure is logged, and the person gets a refusal. */
export async function askProvider<T>({ log }: Pick<Ctx, 'log'>, asked: Promise<T>): Promise<T> {
  try {
    return await asked
  } catch (cause) {
    log.warn('payment_provider.failed', { cause })
    throw refuse('payment_provider_error')
  }
}
