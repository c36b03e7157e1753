import { broadcasts } from './broadcasts.ts'
import { platformAudit } from './platform-audit.ts'
import { platformBroadcasts } from './platform-broadcasts.ts'
import { platformHealth } from './platform-health.ts'
import { platformSettings } from './platform-settings.ts'
import { platformSsoRequests } from './platform-sso-requests.ts'
import { platformWorkspaces } from './platform-workspaces.ts'

/** The actions of operators of the installation, and their announcements to workspaces. */
export const operate = {
  broadcasts,
  platformAudit,
  platformBroadcasts,
  platformHealth,
  platformSettings,
  platformSsoRequests,
  platformWorkspaces,
} as const
