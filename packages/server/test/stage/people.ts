import { createHash } from 'node:crypto'
import { encodeId, SECRET_PREFIXES, type Role } from '@postroad/contract'
import { hashCredential } from '../../src/platform/cipher.ts'
import { sql, type Database } from '../../src/platform/db.ts'
import { randomText } from '../../src/platform/ids.ts'
import { insertApiKey } from '../../src/resources/people/api-keys/queries.ts'
import { insertCredential } from '../../src/resources/capture/credentials/queries.ts'
import { insertProject } from '../../src/resources/workspace/projects/index.ts'
import { insertWorkspace } from '../../src/resources/workspace/workspaces/index.ts'
import type { Answer, World } from './harness.ts'

/** Members, keys and workspaces created directly in the database, and requests on their behalf. */

export type Headers = Readonly<Record<string, string>>
export type Member = { readonly workspaceId: string; readonly userId: string }

const now = (world: World): Date => new Date(world.clock.now())

/** A member with this role in a workspace. */
export async function aMember(
  world: World,
  database: Database,
  of: { workspaceId: string; role: Role },
): Promise<Member> {
  const userId = world.app.deps.uuid()
  await database.run(sql`insert into users (id, name, created_at) values (${userId}, 'Somebody', ${now(world)})`)
  await database.run(
    sql`insert into members (workspace_id, user_id, role, created_at) values (${of.workspaceId}, ${userId}, ${of.role}, ${now(world)})`,
  )
  return { workspaceId: of.workspaceId, userId }
}

export type KeyMembers = {
  readonly role?: Exclude<Role, 'owner'>
  readonly projectId?: string
  readonly expiresAt?: Date
  readonly revokedAt?: Date
  readonly ips?: readonly string[]
}
export type MadeKey = { readonly id: string; readonly key: string; readonly headers: Headers }

/** An admin API key that this member created. */
export async function aKeyOf(world: World, database: Database, of: Member & KeyMembers): Promise<MadeKey> {
  const { workspaceId } = of
  const [id, key] = [world.app.deps.uuid(), SECRET_PREFIXES.apiKey + randomText(43)]
  const bounds = {
    role: of.role ?? 'admin',
    project_id: of.projectId ?? null,
    expires_at: of.expiresAt ?? null,
    ip_allowlist: of.ips ?? [],
  }
  await insertApiKey(database, {
    workspaceId,
    id,
    name: 'test',
    shown_prefix: key.slice(0, 11),
    ...bounds,
    created_by: of.userId,
    now: now(world),
  })
  await insertCredential(database, {
    workspaceId,
    hash: hashCredential(key),
    kind: 'api_key',
    projectId: null,
    subjectId: id,
  })
  if (of.revokedAt !== undefined)
    await database.run(
      sql`update api_keys set revoked_at = ${of.revokedAt} where workspace_id = ${workspaceId} and id = ${id}`,
    )
  return { id: encodeId('apiKey', id), key, headers: { authorization: `Bearer ${key}` } }
}

/** A workspace with its Default project and an owner. */
export async function aWorkspace(
  world: World,
  database: Database,
  slug: string,
): Promise<Member & { readonly defaultProjectId: string }> {
  const { uuid } = world.app.deps
  const [workspaceId, projectId] = [uuid(), uuid()]
  await insertWorkspace(database, { id: workspaceId, slug, name: slug, now: now(world) })
  await insertProject(database, {
    workspaceId,
    id: projectId,
    slug: 'default',
    name: 'Default',
    isDefault: true,
    now: now(world),
  })
  return { ...(await aMember(world, database, { workspaceId, role: 'owner' })), defaultProjectId: projectId }
}

/** A finished export of a workspace: a file of this many bytes in one piece. Returns its id. */
export async function aReadyExport(
  world: World,
  database: Database,
  of: { workspaceId: string; data?: Buffer },
): Promise<string> {
  const [id, data] = [world.app.deps.uuid(), of.data ?? Buffer.from('An export.')]
  const expiresAt = new Date(world.clock.now() + 86_400_000)
  await database.run(sql`
    insert into data_exports (workspace_id, id, state, created_at, finished_at, expires_at, files_done, files_total, rows_total, bytes, sha256)
    values (${of.workspaceId}, ${id}, 'ready', ${now(world)}, ${now(world)}, ${expiresAt}, 1, 1, 0, ${data.length}, ${createHash('sha256').update(data).digest()})
  `)
  await database.run(
    sql`insert into data_export_chunks (workspace_id, export_id, number, data) values (${of.workspaceId}, ${id}, 0, ${data})`,
  )
  return encodeId('dataExport', id)
}

/** The workspace that bootstrap created, with its owner. */
export async function theWorkspace(database: Database): Promise<Member & { readonly defaultProjectId: string }> {
  const found = await database.one<{ workspace_id: string; user_id: string; id: string }>(sql`
    select m.workspace_id, m.user_id, p.id
      from members m
      join projects p on p.workspace_id = m.workspace_id and p.is_default
     where m.role = 'owner'
     order by m.workspace_id, m.user_id
     limit 1
  `)
  return { workspaceId: found.workspace_id, userId: found.user_id, defaultProjectId: found.id }
}

/** Sends a request such as `GET me` with these headers: `ask(world, 'POST rules', { headers, body })`. */
export async function ask(
  world: World,
  line: string,
  sent: { readonly headers: Headers; readonly body?: unknown },
): Promise<Answer> {
  const [method = 'GET', path = ''] = line.split(' ')
  const { headers, body } = sent
  const response = await fetch(`${world.baseUrl}/admin/api/${path}`, {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  // A download is text.
  return {
    status: response.status,
    headers: response.headers,
    body: response.headers.get('content-type')?.startsWith('application/json') === true ? JSON.parse(text) : text,
  }
}
