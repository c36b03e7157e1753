import type { Deps } from '../../../context.ts'
import { certificateFacts } from '../../../domain/delivery/certificates.ts'
import { openReach } from '../../delivery/destinations/index.ts'
import { listUnreadCertificates, setCertificateExpiry } from './causes/queries.ts'

const AT_ONCE = 100

/** Reads when the client certificates end that were stored since the last look. They are sealed, so no statement can. */
export async function readCertificates(deps: Deps): Promise<void> {
  const system = deps.database.forSystem
  for (const { id, tls, workspace_id, project_id } of await listUnreadCertificates(system, { limit: AT_ONCE })) {
    const { certificate } = openReach(deps, { id, auth: null, tls, proxy: null }).tls ?? {}
    const expiresAt = certificate === undefined ? null : (certificateFacts(certificate)[0]?.expires_at ?? null)
    // oxlint-disable-next-line no-await-in-loop -- few are new at a time
    await setCertificateExpiry(system, { workspaceId: workspace_id, projectId: project_id, id, tls, expiresAt })
  }
}
