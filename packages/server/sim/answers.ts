import type { Answer, Begun, Event, StoreCall, Turned } from '../src/pipeline/deliver/ports.ts'

/** The outcome of a commit of new deliveries, as the machine gets it. */
export function turnedOf(given: Answer<readonly Begun[]>): Answer<Turned> {
  if (given.outcome !== 'done') return given
  return { outcome: 'done', value: { begun: given.value, applied: [], paused: [], lost: [] } }
}

export function answerTo(effect: StoreCall, answer: Answer<never>): Event {
  const { op } = effect
  switch (effect.type) {
    case 'lease':
      return { type: 'leased', op, answer }
    case 'renew':
      return { type: 'renewed', op, answer }
    case 'release':
      return { type: 'released', op, answer }
    case 'read':
      return { type: 'read', op, answer }
    case 'turn':
      return { type: 'turned', op, answer }
  }
}
