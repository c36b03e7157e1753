import type { DELIVERY_STATES } from '@postroad/contract'
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

export function stateText(state: DeliveryState): string {
  return `${LOOKS[state].mark} ${state}`
}

/** The text of a state in its colour; padding included, so that it is used after a table has its widths. */
export function stateStyle(state: DeliveryState): (text: string) => string {
  return LOOKS[state].paint
}

/** Whether something is switched on. */
export function onOff(enabled: boolean): string {
  return enabled ? '● on' : '○ off'
}
