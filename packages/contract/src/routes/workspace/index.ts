import { alerts } from './alerts.ts'
import { about as aboutAlerts } from './alerts.about.ts'
import { audit } from './audit.ts'
import { about as aboutAudit } from './audit.about.ts'
import { billing } from './billing.ts'
import { about as aboutBilling } from './billing.about.ts'
import { config } from './config.ts'
import { about as aboutConfig } from './config.about.ts'
import { dashboard } from './dashboard.ts'
import { about as aboutDashboard } from './dashboard.about.ts'
import { dataExport } from './data-export.ts'
import { about as aboutDataExport } from './data-export.about.ts'
import { deletions } from './deletions.ts'
import { about as aboutDeletions } from './deletions.about.ts'
import { map } from './map.ts'
import { about as aboutMap } from './map.about.ts'
import { network } from './network.ts'
import { about as aboutNetwork } from './network.about.ts'
import { projects } from './projects.ts'
import { about as aboutProjects } from './projects.about.ts'
import { workspaces } from './workspaces.ts'
import { about as aboutWorkspaces } from './workspaces.about.ts'
import type { AboutRooms } from '../../about.ts'

/** The workspace: projects, audit log, configuration, export and statistics. */
export const workspace = {
  alerts,
  audit,
  billing,
  config,
  dashboard,
  dataExport,
  deletions,
  map,
  network,
  projects,
  workspaces,
} as const

export const workspaceAbout = {
  alerts: aboutAlerts,
  audit: aboutAudit,
  billing: aboutBilling,
  config: aboutConfig,
  dashboard: aboutDashboard,
  dataExport: aboutDataExport,
  deletions: aboutDeletions,
  map: aboutMap,
  network: aboutNetwork,
  projects: aboutProjects,
  workspaces: aboutWorkspaces,
} satisfies AboutRooms<typeof workspace>
