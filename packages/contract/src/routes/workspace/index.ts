import { audit } from './audit.ts'
import { dashboard } from './dashboard.ts'
import { dataExport } from './data-export.ts'
import { projects } from './projects.ts'
import { workspaces } from './workspaces.ts'

/** The workspace itself: projects, audit log, export, figures. */
export const workspace = { audit, dashboard, dataExport, projects, workspaces } as const
