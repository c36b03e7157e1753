import type { Deps } from '../../../context.ts'
import type { LanesChange } from '../../../features.ts'

/** A message between processes has at most 8,000 bytes; one lane takes about 120. */
const LANES_PER_MESSAGE_MAX = 50

/** Notifies the senders of any number of lanes that changed, in messages that fit. Call it after the commit. */
export function lanesChanged(deps: Pick<Deps, 'lanesChanged'>, { lanes, ...change }: LanesChange): void {
  for (let from = 0; from < lanes.length; from += LANES_PER_MESSAGE_MAX)
    deps.lanesChanged({ lanes: lanes.slice(from, from + LANES_PER_MESSAGE_MAX), ...change })
}
