import { deliveryLight, type DeliveryLit } from '@postroad/contract/lights'
import type { Standing } from '../ui/glyph.tsx'

/** How a delivery stands, as a shape. */
export const standingOf = (delivery: DeliveryLit): Standing => deliveryLight(delivery).tone

/** The same as a word: its state, or that its destination holds it back. */
export const stateWord = (delivery: DeliveryLit): string => deliveryLight(delivery).word

const WORST: readonly Standing[] = ['fail', 'retry', 'paused', 'sending', 'ok', 'rejected']

/** How an event stands: the worst of its deliveries; `none` without any. */
export function worstOf(standings: readonly Standing[]): Standing {
  return WORST.find((standing) => standings.includes(standing)) ?? 'none'
}
