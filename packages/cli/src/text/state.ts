import { deliveryLight, type DELIVERY_STATES, type DeliveryLit, type Light, type Tone } from '@postroad/contract'
import { style } from './style.ts'

export type DeliveryState = (typeof DELIVERY_STATES)[number]

type Look = { readonly mark: string; readonly paint: (text: string) => string }

/** A state is a shape, then a word, then a colour: any one of them is enough to read it. Success is quiet. */
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

/** The text of a state in its colour; padding included, so that it is used after a table has its widths. */
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

/** The light in its colour, padding included. */
export function lightStyle({ tone }: Light): (text: string) => string {
  return TONES[tone].paint
}

/** Whether a rule is on. */
export function onOff(enabled: boolean): string {
  return enabled ? '● on' : '○ off'
}
