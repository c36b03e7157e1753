import type { UseQueryResult } from '@tanstack/react-query'
import { useAsk } from '../../../../data/ask.ts'
import { addressOf, type Span } from '../../../../parts/span.ts'
import type { MapAnswer } from './map-answer.ts'

/** The server counts the current minute this often. */
const EVERY_MS = 5_000
const NODES = 200

type Asked = {
  /** Names the range that ends now; `ms` is its length. */
  readonly range: string
  readonly ms: number
  readonly selected: Span | undefined
}

/** The map of a range that ends now, or of a selected one, which no longer changes. */
export function useMap({ range, ms, selected }: Asked): UseQueryResult<{ readonly map: MapAnswer }> {
  return useAsk(
    ['map', selected === undefined ? range : addressOf(selected)],
    (client, signal) => {
      const { from, to } = addressOf(selected ?? { from: Date.now() - ms, to: Date.now() })
      return client.map.get({ from, ...(selected === undefined ? {} : { to }), limit: NODES }, { signal })
    },
    selected === undefined ? { everyMs: EVERY_MS, keep: true } : { keep: true },
  )
}
