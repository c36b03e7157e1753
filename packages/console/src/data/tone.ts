import { deliveryLight, type DeliveryLit } from '@postroad/contract/lights'
import type { Tone } from '../ui/glyph.tsx'

/** The status of a delivery, as a shape. */
export const toneOf = (delivery: DeliveryLit): Tone => deliveryLight(delivery).tone

/** The same as a word: its state, or `held` when its destination holds it back. */
export const stateWord = (delivery: DeliveryLit): string => deliveryLight(delivery).word

const WORST: readonly Tone[] = ['fail', 'retry', 'paused', 'sending', 'ok', 'rejected']

/** The status of an event: that of its worst delivery; `none` without deliveries. */
export function worstOf(tones: readonly Tone[]): Tone {
  return WORST.find((tone) => tones.includes(tone)) ?? 'none'
}
