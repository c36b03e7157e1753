import type { Deps } from '../../context.ts'
import type { CredentialRow } from '../../resources/capture/credentials/queries.ts'
import type { Directory } from '../directory.ts'
import { reject, type Address, type Captured, type Receiver, type Rejected } from '../types.ts'

type Sent = Exclude<Address, { kind: 'origin' }>
type Made = Extract<Address, { kind: 'origin' }>

const unknownEndpoint = reject('endpoint_not_found')
const unknownKey = reject('ingest_key_not_found')
const unknownProject = reject('not_found', { text: 'The project of this event no longer exists.' })

type Lookup = Deps & { readonly directory: Directory }

/** Slug or ingest key → the endpoint or key that it names. Unknown credentials are 404 and are not logged as rejections. */
export async function resolveReceiver(deps: Lookup, captured: Captured): Promise<Receiver | Rejected> {
  const { address } = captured
  if (address.kind === 'origin') return originFor(deps, address)
  const found = await lookUp(deps, { address, receivedAt: captured.receivedAt })
  if (typeof found !== 'string') return found
  // Another node created this endpoint or key a moment ago: its credential is known, but the plan of its project is older.
  deps.directory.forget(found)
  const again = await lookUp(deps, { address, receivedAt: captured.receivedAt })
  if (typeof again !== 'string') return again
  return address.kind === 'url' ? unknownEndpoint : unknownKey
}

/** Nothing proves where such an event comes from, because only this process makes one. */
async function originFor(
  { directory }: Lookup,
  { workspaceId, projectId, dataset, origin }: Made,
): Promise<Receiver | Rejected> {
  const plan = await directory.plan(projectId, workspaceId)
  if (plan === undefined) return unknownProject
  return { plan, origin, webhook: undefined, ingestKeyId: undefined, ingestKey: undefined, use: 'whole', dataset }
}

type Asking = Pick<Captured, 'receivedAt'> & { readonly address: Sent }

/** Returns the id of the project when its plan lacks the endpoint or the key that a valid credential names. */
async function lookUp(deps: Lookup, asking: Asking): Promise<Receiver | Rejected | string> {
  const { address } = asking
  const text = address.kind === 'url' ? address.slug : address.key
  const nobody = address.kind === 'url' ? unknownEndpoint : unknownKey
  const found = deps.directory.credential(text)
  const credential = found instanceof Promise ? await found : found
  if (credential === undefined || credential.project_id === null || !opens(credential, asking)) return nobody
  const loaded = deps.directory.plan(credential.project_id, credential.workspace_id)
  const plan = loaded instanceof Promise ? await loaded : loaded
  if (plan === undefined) return nobody
  return receiverFor(address, { plan, subjectId: credential.subject_id })
}

function opens(credential: CredentialRow, { address, receivedAt }: Asking): boolean {
  if (credential.kind !== (address.kind === 'url' ? 'webhook_url' : 'ingest_key')) return false
  return credential.expires_at === null || credential.expires_at.getTime() > receivedAt
}

function receiverFor(address: Sent, at: { plan: Receiver['plan']; subjectId: string }): Receiver | Rejected | string {
  const { plan, subjectId } = at
  const ingestKey = address.kind === 'url' ? undefined : plan.ingestKeys.get(subjectId)
  if (address.kind !== 'url' && ingestKey === undefined) return plan.projectId
  const shared = { plan, origin: undefined }
  switch (address.kind) {
    case 'url': {
      const webhook = plan.webhooks.get(subjectId)
      if (webhook === undefined) return plan.projectId
      if (plan.workspaceSlug !== address.workspace || plan.projectSlug !== address.project) return unknownEndpoint
      return { ...shared, webhook, ingestKeyId: undefined, ingestKey, use: 'webhook', dataset: address.dataset }
    }
    case 'key_webhook': {
      const webhook = plan.webhooksBySlug.get(address.slug)
      return webhook === undefined
        ? unknownEndpoint
        : { ...shared, webhook, ingestKeyId: subjectId, ingestKey, use: 'webhook', dataset: undefined }
    }
    case 'key_rules':
      return { ...shared, webhook: undefined, ingestKeyId: subjectId, ingestKey, use: 'rules', dataset: undefined }
    case 'key_dataset':
      return {
        ...shared,
        webhook: undefined,
        ingestKeyId: subjectId,
        ingestKey,
        use: 'whole',
        dataset: address.dataset,
      }
  }
}
