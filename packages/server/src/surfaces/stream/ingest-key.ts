import { SECRET_PREFIXES, type CloseReason } from '@postroad/contract'
import type { FastifyRequest } from 'fastify'
import type { Road } from '../../pipeline/accept.ts'
import type { Receiver } from '../../pipeline/types.ts'

type ProjectPlan = Receiver['plan']
type Credential = Awaited<ReturnType<Road['directory']['credential']>>

/** The ingest key of a request: of its Authorization header, else of its query (for a browser's EventSource). */
export function keyOf(request: FastifyRequest, inQuery: string | undefined): string | undefined {
  const [scheme, token] = (request.headers.authorization ?? '').split(' ')
  const key = scheme?.toLowerCase() === 'bearer' ? token : inQuery
  return key?.startsWith(SECRET_PREFIXES.ingestKey) === true ? key : undefined
}

/** What a key opens from where it is used; undefined when it opens nothing. */
export type KeyPlan = ProjectPlan | 'ip_not_allowed' | undefined
type Use = { readonly key: string; readonly ip: string | undefined }

/** Asked four times a second for each stream: the directory nearly always knows without asking, and hears of changes. */
export function planOf(road: Road, use: Use): KeyPlan | Promise<KeyPlan> {
  const found = road.directory.credential(use.key)
  return found instanceof Promise ? found.then((credential) => planBehind(road, use, credential)) : planBehind(road, use, found)
}

function planBehind({ directory, clock }: Road, { ip }: Use, credential: Credential): KeyPlan | Promise<KeyPlan> {
  if (credential?.kind !== 'ingest_key' || credential.project_id === null) return undefined
  const { project_id: projectId, workspace_id: workspaceId, subject_id: keyId, expires_at: expiresAt } = credential
  if (expiresAt !== null && expiresAt.getTime() <= clock.now()) return undefined
  const checked = (plan: ProjectPlan | undefined): KeyPlan => (plan?.ingestKeys.get(keyId)?.allowsIp?.(ip) === false ? 'ip_not_allowed' : plan)
  const plan = directory.plan(projectId, workspaceId)
  return plan instanceof Promise ? plan.then(checked) : checked(plan)
}

/** Why a stream that was opened with this key ends. */
export function whyOver(plan: KeyPlan): CloseReason | undefined {
  if (plan === undefined || plan === 'ip_not_allowed') return 'credential_revoked'
  return plan.suspended ? 'workspace_suspended' : undefined
}
