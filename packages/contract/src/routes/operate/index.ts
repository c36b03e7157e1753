import { broadcasts } from './broadcasts.ts'
import { about as aboutBroadcasts } from './broadcasts.about.ts'
import { platformAudit } from './platform-audit.ts'
import { about as aboutPlatformAudit } from './platform-audit.about.ts'
import { platformBroadcasts } from './platform-broadcasts.ts'
import { about as aboutPlatformBroadcasts } from './platform-broadcasts.about.ts'
import { platformHealth } from './platform-health.ts'
import { about as aboutPlatformHealth } from './platform-health.about.ts'
import { platformSettings } from './platform-settings.ts'
import { about as aboutPlatformSettings } from './platform-settings.about.ts'
import { platformSsoRequests } from './platform-sso-requests.ts'
import { about as aboutPlatformSsoRequests } from './platform-sso-requests.about.ts'
import { platformWorkspaces } from './platform-workspaces.ts'
import { about as aboutPlatformWorkspaces } from './platform-workspaces.about.ts'
import type { AboutRooms } from '../../about.ts'

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

export const operateAbout = {
  broadcasts: aboutBroadcasts,
  platformAudit: aboutPlatformAudit,
  platformBroadcasts: aboutPlatformBroadcasts,
  platformHealth: aboutPlatformHealth,
  platformSettings: aboutPlatformSettings,
  platformSsoRequests: aboutPlatformSsoRequests,
  platformWorkspaces: aboutPlatformWorkspaces,
} satisfies AboutRooms<typeof operate>
