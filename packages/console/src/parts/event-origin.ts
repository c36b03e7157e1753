import type { EventOrigin } from '@postroad/contract'
import { ORIGIN_WORDS } from '@postroad/contract/origins'

type Kind = NonNullable<EventOrigin>['kind']

const SCREENS: Readonly<Record<Kind, string>> = {
  source: 'sources',
  cron_trigger: 'sources',
  ws_trigger: 'sources',
  workflow: 'workflow-runs',
  ai_run: 'ai-runs',
  alert: 'alerts',
}

/** The part of the project that made an event: what people call it, and the screen that shows it. */
export function makerOf({ kind, id }: NonNullable<EventOrigin>) {
  return { text: ORIGIN_WORDS[kind], screen: SCREENS[kind], id }
}
