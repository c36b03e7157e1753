import type { RouteAnswer, Routes } from '@postroad/contract'
import { useAsk } from './ask.ts'
import { usePlace } from './place.ts'

type Summary = RouteAnswer<Routes['dashboard']['summary']>['summary']

const EVERY_MS = 15_000

/** The counts of the last 24 hours, of the deliveries that wait now and of the month, for the side bar and for tabs. */
export function useSummary(): Summary | undefined {
  const { project } = usePlace()
  return useAsk(
    ['dashboard', 'summary', 'now'],
    (client, signal) => client.dashboard.summary({ project_id: project.id }, { signal }),
    { everyMs: EVERY_MS, keep: true },
  ).data?.summary
}
