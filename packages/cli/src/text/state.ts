import type { DELIVERY_STATES } from '@postroad/contract'
import { deliveryLight, type DeliveryLit, type Light, type Tone } from '@postroad/contract/lights'
import { style } from './style.ts'

export type DeliveryState = (typeof DELIVERY_STATES)[number]

type Look = { readonly mark: string; readonly paint: (text: string) => string }

/** A state has a shape, a word and a color, and any one of them is enough to read it. Success is quiet. */
const LOOKS: Readonly<Record<DeliveryState, Look>> = {
  pending: { mark: '○', paint: style.none },
  sending: { mark: '◌', paint: style.live },
  delivered: { mark: '●', paint: style.good },
  retrying: { mark: '▲', paint: style.waits },
  failed: { mark: '■', paint: style.bad },
  paused: { mark: '‖', paint: style.waits },
  cancelled: { mark: '×', paint: style.dim },
}

export const STATES: readonly string[] = Object.keys(LOOKS)

/** The state of a delivery; one that its destination holds back is `held`. */
export function stateText(delivery: DeliveryLit): string {
  const { tone, word } = deliveryLight(delivery)
  return word === 'held' ? `${TONES[tone].mark} ${word}` : `${LOOKS[delivery.state].mark} ${word}`
}

/** Colors the text of a state and its padding, so it is applied after a table has computed its widths. */
export function stateStyle(delivery: DeliveryLit): (text: string) => string {
  const { tone, word } = deliveryLight(delivery)
  return word === 'held' ? TONES[tone].paint : LOOKS[delivery.state].paint
}

const TONES: Readonly<Record<Tone, Look>> = {
  ok: { mark: '●', paint: style.none },
  retry: { mark: '▲', paint: style.waits },
  fail: { mark: '■', paint: style.bad },
  paused: { mark: '○', paint: style.dim },
  sending: { mark: '○', paint: style.none },
  rejected: { mark: '×', paint: style.dim },
}

/** The light of a destination or an endpoint. */
export function lightText({ tone, word }: Light): string {
  return `${TONES[tone].mark} ${word}`
}

/** Colors a light and its padding. */
export function lightStyle({ tone }: Light): (text: string) => string {
  return TONES[tone].paint
}
