import type { Deps } from '../../context.ts'
import type { CredentialRow } from '../../resources/capture/credentials/queries.ts'
import type { Directory } from '../directory.ts'
import { reject, type Address, type Captured, type Receiver, type Rejected } from '../types.ts'

const unknownEndpoint = reject('endpoint_not_found')
const unknownKey = reject('ingest_key_not_found')

type Lookup = Deps & { readonly directory: Directory }

/** Slug or ingest key → the endpoint or key that it names. Unknown credentials are 404 and are not logged as rejections. */
export async function resolveReceiver(deps: Lookup, captured: Captured): Promise<Receiver | Rejected> {
  const found = await lookUp(deps, captured)
  if (typeof found !== 'string') return found
  // Another node created this endpoint or key a moment ago: its credential is known, but the plan of its project is older.
  deps.directory.forget(found)
  const again = await lookUp(deps, captured)
  if (typeof again !== 'string') return again
  return captured.address.kind === 'url' ? unknownEndpoint : unknownKey
}

/** Returns the id of the project when its plan lacks the endpoint or the key that a valid credential names. */
async function lookUp(deps: Lookup, captured: Captured): Promise<Receiver | Rejected | string> {
  const { address } = captured
  const text = address.kind === 'url' ? address.slug : address.key
  const nobody = address.kind === 'url' ? unknownEndpoint : unknownKey
  const found = deps.directory.credential(text)
  const credential = found instanceof Promise ? await found : found
  if (credential === undefined || credential.project_id === null || !opens(credential, captured)) return nobody
  const loaded = deps.directory.plan(credential.project_id, credential.workspace_id)
  const plan = loaded instanceof Promise ? await loaded : loaded
  if (plan === undefined) return nobody
  return receiverFor(address, { plan, subjectId: credential.subject_id })
}

function opens(credential: CredentialRow, { address, receivedAt }: Captured): boolean {
  if (credential.kind !== (address.kind === 'url' ? 'webhook_url' : 'ingest_key')) return false
  return credential.expires_at === null || credential.expires_at.getTime() > receivedAt
}

function receiverFor(
  address: Address,
  at: { plan: Receiver['plan']; subjectId: string },
): Receiver | Rejected | string {
  const { plan, subjectId } = at
  const ingestKey = address.kind === 'url' ? undefined : plan.ingestKeys.get(subjectId)
  if (address.kind !== 'url' && ingestKey === undefined) return plan.projectId
  switch (address.kind) {
    case 'url': {
      const webhook = plan.webhooks.get(subjectId)
      if (webhook === undefined) return plan.projectId
      if (plan.workspaceSlug !== address.workspace || plan.projectSlug !== address.project) return unknownEndpoint
      return { plan, webhook, ingestKeyId: undefined, ingestKey, use: 'webhook', dataset: address.dataset }
    }
    case 'key_webhook': {
      const webhook = plan.webhooksBySlug.get(address.slug)
      return webhook === undefined
        ? unknownEndpoint
        : { plan, webhook, ingestKeyId: subjectId, ingestKey, use: 'webhook', dataset: undefined }
    }
    case 'key_rules':
      return { plan, webhook: undefined, ingestKeyId: subjectId, ingestKey, use: 'rules', dataset: undefined }
    case 'key_dataset':
      return { plan, webhook: undefined, ingestKeyId: subjectId, ingestKey, use: 'whole', dataset: address.dataset }
  }
}
