import { encodeId, LIMITS } from '@postroad/contract'
import { asSystem } from '../../../as-system.ts'
import type { Ctx, Deps } from '../../../context.ts'
import { refuse } from '../../../domain/refusal.ts'
import { inTransaction } from '../../../transaction.ts'
import { audit } from '../../workspace/audit/index.ts'
import { mintApiKey, removeExpiredKeysOf, revokeApiKeysFrom } from '../../people/api-keys/index.ts'
import { findDefaultProject, insertProject } from '../../workspace/projects/index.ts'
import { mintOwnerLink, ownerLinkUrl } from '../../people/sign-in/index.ts'
import { webhooks } from '../../capture/webhooks/index.ts'
import { findFirstWorkspace, findOwner, insertOwner, insertWorkspace } from '../../workspace/workspaces/index.ts'
import { lockBootstrap } from './queries.ts'

/** The first workspace, project and endpoint. */
export type Installed = {
  readonly workspace: { readonly id: string; readonly slug: string }
  readonly project: { readonly id: string; readonly slug: string }
  readonly webhook: { readonly id: string; readonly slug: string; readonly public_url: string }
}

/** The output of `postroad bootstrap --json` (decisions §2). */
export type Bootstrapped = Installed & {
  /** An admin key for 90 days. Only its hash is stored, so it is shown only now. */
  readonly api_key: string
  /** Signs the owner in once, within an hour. */
  readonly sign_in_url: string
}

const NAMES = { workspace: 'main', project: 'default', webhook: 'first' } as const

/** For `npm start`: creates the missing parts, and no key. Returns a sign-in link only if it created the workspace. */
export function install(deps: Deps): Promise<Installed & { readonly sign_in_url: string | undefined }> {
  return asInstaller(deps, async (tx) => {
    const { installed, inProject, isNew } = await makeMissing(tx)
    return { ...installed, sign_in_url: isNew ? await newOwnerLink(inProject) : undefined }
  })
}

/** Creates the missing parts, and an admin key that replaces the key of the previous call. */
export function bootstrap(deps: Deps): Promise<Bootstrapped> {
  return asInstaller(deps, async (tx) => {
    const { installed, inProject } = await makeMissing(tx)
    await revokeApiKeysFrom(inProject, 'bootstrap')
    return {
      ...installed,
      api_key: await mintOwnKey(inProject, { name: 'bootstrap', origin: 'bootstrap', lifeMs: LIMITS.bootstrapKeyMs }),
      sign_in_url: await newOwnerLink(inProject),
    }
  })
}

/** A link that signs the owner in once, within an hour. The previous link ends. */
export function signInLink(deps: Deps): Promise<string> {
  // oxlint-disable-next-line house/verb-guards -- the sign-in writes the row
  return asInstaller(deps, async (tx) => newOwnerLink(await inFirstWorkspace(tx)))
}

/** A short-lived admin key for the command line on the machine of the server, which stores it only in memory. */
export function localKey(deps: Deps): Promise<string> {
  // oxlint-disable-next-line house/verb-guards -- mintApiKey writes the row
  return asInstaller(deps, async (tx) => {
    const there = await inFirstWorkspace(tx)
    await removeExpiredKeysOf(there, 'command_line')
    return mintOwnKey(there, { name: 'Command line', origin: 'command_line', lifeMs: LIMITS.commandLineKeyMs })
  })
}

function asInstaller<T>(deps: Deps, work: (tx: Ctx) => Promise<T>): Promise<T> {
  // oxlint-disable-next-line house/verb-guards -- the code that creates each row writes its audit row
  return inTransaction(asSystem(deps, { workspaceId: '', projectId: '', requestId: 'bootstrap' }), async (tx) => {
    await lockBootstrap(tx.db)
    return work(tx)
  })
}

async function makeMissing(
  tx: Ctx,
): Promise<{ readonly installed: Installed; readonly inProject: Ctx; readonly isNew: boolean }> {
  const found = await findFirstWorkspace(tx.db)
  const workspace = found ?? (await makeWorkspace(tx))
  const project = await findDefaultProject(tx.db, workspace.id)
  if (project === undefined) throw new Error(`Workspace ${workspace.slug} has no Default project.`)
  const inProject = { ...tx, workspaceId: workspace.id, projectId: project.id }
  const webhook = await firstWebhook(inProject)
  const installed = {
    workspace: { id: encodeId('workspace', workspace.id), slug: workspace.slug },
    project: { id: encodeId('project', project.id), slug: project.slug },
    webhook: { id: webhook.id, slug: webhook.slug, public_url: webhook.public_url },
  }
  return { installed, inProject, isNew: found === undefined }
}

async function inFirstWorkspace(tx: Ctx): Promise<Ctx> {
  const workspace = await findFirstWorkspace(tx.db)
  if (workspace === undefined)
    throw refuse('not_found', 'There is no workspace here yet. Start the server once, or run "postroad bootstrap".')
  return { ...tx, workspaceId: workspace.id }
}

async function makeWorkspace(tx: Ctx) {
  const now = new Date(tx.clock.now())
  const workspace = await insertWorkspace(tx.db, { id: tx.uuid(), slug: NAMES.workspace, name: 'Main', now })
  if (workspace === undefined)
    throw new Error('Another process created the first workspace in the meantime. Try again.')
  await insertOwner(tx.db, { workspaceId: workspace.id, id: tx.uuid(), name: 'Owner', now })
  await insertProject(tx.db, {
    workspaceId: workspace.id,
    id: tx.uuid(),
    slug: NAMES.project,
    name: 'Default',
    isDefault: true,
    now,
  })
  await audit(
    { ...tx, workspaceId: workspace.id },
    { action: 'create_workspace', target: encodeId('workspace', workspace.id) },
  )
  return workspace
}

/** The oldest endpoint of the Default project; created when there is none. */
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
    response: null,
    body_as: 'contract',
    split: null,
    idempotency: null,
    customer: null,
    event_title: null,
    refused_samples: true,
  })
  return made.webhook
}

async function mintOwnKey(
  tx: Ctx,
  of: { readonly name: string; readonly origin: 'bootstrap' | 'command_line'; readonly lifeMs: number },
): Promise<string> {
  const owner = await findOwner(tx.db, tx.workspaceId)
  if (owner === undefined) throw new Error('The workspace has no owner to create a key for.')
  const expires_at = new Date(tx.clock.now() + of.lifeMs)
  const { name, origin } = of
  return (await mintApiKey(tx, { name, origin, role: 'admin', created_by: owner.id, expires_at })).key
}

const newOwnerLink = async (tx: Ctx): Promise<string> => ownerLinkUrl(tx, await mintOwnerLink(tx))
