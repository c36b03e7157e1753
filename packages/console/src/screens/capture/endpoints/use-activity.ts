import { useAsk } from '../../../data/ask.ts'

const LAST = 20
const POLL_MS = 15_000

/** The last requests of an endpoint, and their count in the last 24 hours: one answer for the list and the detail. */
export function useActivity(id: string) {
  return useAsk(['activity', 'last', id], (client, signal) => client.activity.list({ id, limit: LAST }, { signal }), {
    everyMs: POLL_MS,
  }).data
}

export type ActivityRow = NonNullable<ReturnType<typeof useActivity>>['rows'][number]
