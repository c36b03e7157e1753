import { SECRET_PREFIXES, type CloseReason } from '@postroad/contract'
import type { FastifyRequest } from 'fastify'
import { refuse } from '../../domain/refusal.ts'
import type { Road } from '../../pipeline/accept.ts'
import type { Receiver } from '../../pipeline/types.ts'

type ProjectPlan = Receiver['plan']
type Credential = Awaited<ReturnType<Road['directory']['credential']>>

/** The ingest key of a request: from its Authorization header, otherwise from its query (for a browser's EventSource). */
export function keyOf(request: FastifyRequest, inQuery: string | undefined): string | undefined {
  const [scheme, token] = (request.headers.authorization ?? '').split(' ')
  const key = scheme?.toLowerCase() === 'bearer' ? token : inQuery
  return key?.startsWith(SECRET_PREFIXES.ingestKey) === true ? key : undefined
}

type Key = NonNullable<ReturnType<ProjectPlan['ingestKeys']['get']>>
type Opened = { readonly plan: ProjectPlan; readonly keyId: string; readonly key: Key }
/** The plan behind a key, or the reason why the key may not stream; undefined when it is not an active key. */
export type KeyPlan = Opened | 'ip_not_allowed' | 'scope_missing' | 'switched_off' | undefined
type Use = { readonly key: string; readonly ip: string | undefined }

/** Called four times a second for each stream. The directory nearly always answers without a query, and is notified of changes. */
export function planOf(road: Road, use: Use): KeyPlan | Promise<KeyPlan> {
  const found = road.directory.credential(use.key)
  return found instanceof Promise
    ? found.then((credential) => planBehind(road, use, credential))
    : planBehind(road, use, found)
}

function planBehind({ directory, clock }: Road, { ip }: Use, credential: Credential): KeyPlan | Promise<KeyPlan> {
  if (credential?.kind !== 'ingest_key' || credential.project_id === null) return undefined
  const { project_id: projectId, workspace_id: workspaceId, subject_id: keyId, expires_at: expiresAt } = credential
  if (expiresAt !== null && expiresAt.getTime() <= clock.now()) return undefined
  const checked = (plan: ProjectPlan | undefined): KeyPlan => opened(plan, { keyId, ip })
  const plan = directory.plan(projectId, workspaceId)
  if (plan instanceof Promise) return plan.then(checked)
  if (plan?.ingestKeys.has(keyId) === true) return checked(plan)
  // Another node created this key a moment ago: its credential is known, but the cached plan of its project is older.
  directory.forget(projectId)
  const fresh = directory.plan(projectId, workspaceId)
  return fresh instanceof Promise ? fresh.then(checked) : checked(fresh)
}

function opened(
  plan: ProjectPlan | undefined,
  { keyId, ip }: { readonly keyId: string; readonly ip: string | undefined },
): KeyPlan {
  const key = plan?.ingestKeys.get(keyId)
  if (plan === undefined || key === undefined) return undefined
  if (!key.enabled) return 'switched_off'
  if (key.allowsIp?.(ip) === false) return 'ip_not_allowed'
  return key.scopes.has('stream') ? { plan, keyId, key } : 'scope_missing'
}

/** The plan behind a key that may stream; throws the refusal of one that may not. An unknown key counts as no key. */
export function admitted(plan: KeyPlan): Opened {
  switch (plan) {
    case undefined:
      throw refuse('stream_key_required')
    case 'switched_off':
      throw refuse('stream_key_required', 'This ingest key is turned off. Enable it to stream again.')
    case 'ip_not_allowed':
      throw refuse(plan)
    case 'scope_missing':
      throw refuse(plan, 'This ingest key cannot stream. Add the scope "stream" to the key, or use another key.')
    default:
      return plan
  }
}

type Datasets = ReadonlySet<string> | undefined

/** The requested datasets, if the key may see them; without a request, all datasets of the key. */
export function seenBy(key: Key, asked: Datasets): Datasets {
  if (key.datasets === null) return asked
  for (const name of asked ?? []) {
    if (!key.datasets.has(name))
      throw refuse(
        'dataset_not_allowed',
        `This ingest key cannot stream "${name}". Add the dataset to the key, or use another key.`,
      )
  }
  return asked ?? key.datasets
}

/** The reason why a stream that was opened with this key must end; it shows `datasets`. */
export function keyCloseReason(now: KeyPlan, datasets: Datasets): CloseReason | undefined {
  if (now === undefined || typeof now === 'string') return 'credential_revoked'
  if (now.plan.inactive !== undefined) return now.plan.inactive
  const allowed = now.key.datasets
  const isWithin = allowed === null || (datasets !== undefined && [...datasets].every((name) => allowed.has(name)))
  return isWithin ? undefined : 'credential_revoked'
}
