import assert from 'node:assert/strict'
import { decodeId } from '@postroad/contract'
import type { SourceDeps } from '../../src/pipeline/sources/ports.ts'
import { sql } from '../../src/platform/db.ts'
import type { Answer, World } from './harness.ts'

/** Parts that the tests of sources and triggers share. */

export const sourceDeps = (world: World): SourceDeps => ({ ...world.app.deps, acceptAll: world.app.acceptAll })

export const placeOf = ({ installed }: World): { workspaceId: string; projectId: string } => ({
  workspaceId: decodeId('workspace', installed.workspace.id) ?? '',
  projectId: decodeId('project', installed.project.id) ?? '',
})

/** The payloads of a dataset as text, oldest first. */
export async function payloadsIn(world: World, dataset: string): Promise<readonly string[]> {
  const rows = await world.app.deps.database.many<{ data: string }>(sql`
    select coalesce(r.data, s.body) as data
      from records r
      join submissions s on s.workspace_id = r.workspace_id and s.project_id = r.project_id and s.id = r.submission_id
     where r.dataset = ${dataset}
     order by r.id
  `)
  return rows.map(({ data }) => data)
}

/** Asks the admin API and expects a status. */
export async function asked(world: World, line: string, body?: unknown): Promise<Answer['body']> {
  const [method = '', path = ''] = line.split(' ')
  const answer = await world.admin(method, path, body)
  assert.ok(answer.status < 300, `${line}: ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body
}

/** Suspends the first workspace, or reinstates it, on every node. */
export async function setSuspended(world: World, suspended: boolean): Promise<void> {
  const { database, clock, configChanged } = world.app.deps
  const { workspaceId, projectId } = placeOf(world)
  await database.run(sql`
    update workspaces
       set suspended_at = ${suspended ? new Date(clock.now()) : null},
           suspended_reason = ${suspended ? 'a test' : null}
     where id = ${workspaceId}
  `)
  configChanged(projectId)
}
