import { audit } from './audit.ts'
import { billing } from './billing.ts'
import { config } from './config.ts'
import { dashboard } from './dashboard.ts'
import { dataExport } from './data-export.ts'
import { deletions } from './deletions.ts'
import { map } from './map.ts'
import { network } from './network.ts'
import { projects } from './projects.ts'
import { workspaces } from './workspaces.ts'

/** The workspace: projects, audit log, configuration, export and statistics. */
export const workspace = {
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
