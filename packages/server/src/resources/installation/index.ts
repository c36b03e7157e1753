import { encodeId } from '@postroad/contract'
import { asSystem } from '../../as-system.ts'
import type { Ctx, Deps } from '../../context.ts'
import { Refusal } from '../../domain/refusal.ts'
import { secretPlace } from '../../domain/secret-place.ts'
import { inTransaction } from '../../transaction.ts'
import { audit } from '../audit/index.ts'
import { identifyApiKey, mintApiKey } from '../api-keys/index.ts'
import { findDefaultProject, insertProject } from '../projects/index.ts'
import { mintOwnerLink, ownerLinkUrl, ownerLinkWorks } from '../sign-in/index.ts'
import { webhooks } from '../webhooks/index.ts'
import { findFirstWorkspace, findOwner, insertOwner, insertWorkspace } from '../workspaces/index.ts'
import { findInstalled, lockBootstrap, putInstalled } from './queries.ts'

/** What `postroad bootstrap --json` prints (decisions §2). */
export type Bootstrapped = {
  readonly workspace: { readonly id: string; readonly slug: string }
  readonly project: { readonly id: string; readonly slug: string }
  readonly webhook: { readonly id: string; readonly slug: string; readonly public_url: string }
  readonly api_key: string
  /** Signs the owner in once; good for a quarter of an hour at least. The same one until it is used or nearly over. */
  readonly sign_in_url: string
  /** Whether this call made the workspace. */
  readonly first_run: boolean
}

const NAMES = { workspace: 'main', project: 'default', webhook: 'first' } as const
const KEY_NAME = 'bootstrap_api_key'
const LINK_NAME = 'bootstrap_sign_in_link'

/**
 * Makes the first owner, workspace, Default project, endpoint and admin key, once. The key is kept sealed, so that every
 * later call, on any node, gives the same one; a revoked key is replaced.
 */
export function bootstrap(deps: Deps): Promise<Bootstrapped> {
  return inTransaction(asSystem(deps, { workspaceId: '', projectId: '', requestId: 'bootstrap' }), async (tx) => {
    await lockBootstrap(tx.db)
    const found = await findFirstWorkspace(tx.db)
    const workspace = found ?? (await makeWorkspace(tx))
    const project = await findDefaultProject(tx.db, workspace.id)
    if (project === undefined) throw new Error(`Workspace ${workspace.slug} has no Default project.`)
    const inProject = { ...tx, workspaceId: workspace.id, projectId: project.id }
    const webhook = await firstWebhook(inProject)
    return {
      workspace: { id: encodeId('workspace', workspace.id), slug: workspace.slug },
      project: { id: encodeId('project', project.id), slug: project.slug },
      webhook: { id: webhook.id, slug: webhook.slug, public_url: webhook.public_url },
      api_key: await bootstrapKey(inProject),
      sign_in_url: ownerLinkUrl(inProject, await ownerLink(inProject)),
      first_run: found === undefined,
    }
  })
}

async function makeWorkspace(tx: Ctx) {
  const now = new Date(tx.clock.now())
  const workspace = await insertWorkspace(tx.db, { id: tx.uuid(), slug: NAMES.workspace, name: 'Main', now })
  if (workspace === undefined) throw new Error('The first workspace was made by somebody else meanwhile. Try again.')
  await insertOwner(tx.db, { workspaceId: workspace.id, id: tx.uuid(), name: 'Owner', now })
  await insertProject(tx.db, { workspaceId: workspace.id, id: tx.uuid(), slug: NAMES.project, name: 'Default', isDefault: true, now })
  await audit({ ...tx, workspaceId: workspace.id }, { action: 'create_workspace', target: encodeId('workspace', workspace.id) })
  return workspace
}

/** The oldest endpoint of the Default project; made when there is none. */
async function firstWebhook(tx: Ctx) {
  const { webhooks: found } = await webhooks.list(tx, { limit: 200, cursor: undefined })
  const oldest = found.at(-1)
  if (oldest !== undefined) return oldest
  const made = await webhooks.create(tx, {
    name: 'First endpoint',
    slug: NAMES.webhook,
    dataset: 'events',
    enabled: true,
    criteria: [],
    mappings: [],
    verification: { scheme: 'none' },
    ip_allowlist: [],
    cors: null,
    handshake: { kind: 'none' },
    idempotency: null,
  })
  return made.webhook
}

async function bootstrapKey(tx: Ctx): Promise<string> {
  const place = secretPlace('installation.value', KEY_NAME)
  const kept = await findInstalled(tx.db, KEY_NAME)
  if (kept !== undefined) {
    const key = tx.cipher.open(kept.value, place).reveal()
    if (await stillWorks(tx, key)) return key
  }
  const owner = await findOwner(tx.db, tx.workspaceId)
  if (owner === undefined) throw new Error('The workspace has no owner to make a key for.')
  const { key } = await mintApiKey(tx, { name: 'bootstrap', role: 'admin', created_by: owner.id })
  await putInstalled(tx.db, { name: KEY_NAME, value: tx.cipher.seal(key, place), now: new Date(tx.clock.now()) })
  return key
}

/** The link that was given last while it works, so that no call leaves live links behind. */
async function ownerLink(tx: Ctx): Promise<string> {
  const place = secretPlace('installation.value', LINK_NAME)
  const kept = await findInstalled(tx.db, LINK_NAME)
  if (kept !== undefined) {
    const token = tx.cipher.open(kept.value, place).reveal()
    if (await ownerLinkWorks(tx, token)) return token
  }
  const token = await mintOwnerLink(tx)
  await putInstalled(tx.db, { name: LINK_NAME, value: tx.cipher.seal(token, place), now: new Date(tx.clock.now()) })
  return token
}

async function stillWorks(tx: Ctx, key: string): Promise<boolean> {
  try {
    await identifyApiKey({ db: tx.db, now: tx.clock.now() }, key)
    return true
  } catch (error) {
    if (error instanceof Refusal) return false
    throw error
  }
}
