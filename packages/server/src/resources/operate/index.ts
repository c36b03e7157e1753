import type { RoomsOf } from '../verbs.ts'
import { broadcasts } from './broadcasts/index.ts'
import { platformAudit } from './platform-audit/index.ts'
import { platformBroadcasts } from './platform-broadcasts/index.ts'
import { platformHealth } from './platform-health/index.ts'
import { platformSettings } from './platform-settings/index.ts'
import { platformSsoRequests } from './platform-sso-requests/index.ts'
import { platformWorkspaces } from './platform-workspaces/index.ts'

/** The rooms of this group that answer routes. A contract route without a verb does not compile. */
export const operate: RoomsOf<'operate'> = {
  broadcasts,
  platformAudit,
  platformBroadcasts,
  platformHealth,
  platformSettings,
  platformSsoRequests,
  platformWorkspaces,
}
