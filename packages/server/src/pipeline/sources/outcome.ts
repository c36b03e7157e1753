import { REASONS, type OriginError } from '@postroad/contract'
import type { Accepted } from '../accept.ts'

/** The road has no room at this moment. The same event may be stored a moment later. */
export class RoadBusy extends Error {
  constructor() {
    super('The event could not be stored now.')
    this.name = 'RoadBusy'
  }
}

/** The refusal of an event as its origin shows it; undefined: it is stored. Throws if the event should come again. */
export function refusalOf(outcome: Accepted | undefined, at: Date): OriginError | undefined {
  if (outcome === undefined || outcome.kind === 'busy') throw new RoadBusy()
  if (outcome.kind !== 'rejected') return undefined
  if (REASONS[outcome.reason].status === 503) throw new RoadBusy()
  return {
    at: at.toISOString(),
    reason: outcome.reason,
    error: outcome.text ?? REASONS[outcome.reason].text,
  }
}
