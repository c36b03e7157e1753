import { alerts } from './alerts/index.ts'
import { auditLog } from './audit/index.ts'
import { billing } from './billing/index.ts'
import { config } from './config/index.ts'
import { dashboard } from './dashboard/index.ts'
import { dataExport } from './data-export/index.ts'
import { deletions } from './deletions/index.ts'
import { map } from './map/index.ts'
import { network } from './network/index.ts'
import { projects } from './projects/index.ts'
import { workspaces } from './workspaces/index.ts'
import type { RoomsOf } from '../verbs.ts'

/** The rooms of this group that answer routes. A contract route without a verb does not compile. */
export const workspace: RoomsOf<'workspace'> = {
  alerts,
  audit: auditLog,
  billing,
  config,
  dashboard,
  dataExport,
  deletions,
  map,
  network,
  projects,
  workspaces,
}
