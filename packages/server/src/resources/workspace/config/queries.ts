import { named, sql, statement, type Db } from '../../../platform/db.ts'
import { TABLES } from '../../tables.ts'

export type Unconfigured = { readonly kind: string; readonly name: string }

/**
 * The names of everything that contains a credential or depends on one, and of the settings of datasets, which belong to the stored data.
 * Their rooms declare them.
 */
export function listUnconfigured(
  db: Db,
  { workspaceId, projectId }: { readonly workspaceId: string; readonly projectId: string },
): Promise<readonly Unconfigured[]> {
  const lists = Object.entries(TABLES).flatMap(([table, { unconfigured }]) => {
    if (unconfigured === undefined) return []
    const { kind, where = 'true' } = unconfigured
    return [
      sql`
        select ${kind} as kind, name
          from ${named(table)}
         where workspace_id = ${workspaceId}
           and project_id = ${projectId}
           and (${statement(where)})
      `,
    ]
  })
  return db.many<Unconfigured>(lists.reduce((all, one) => sql`${all} union all ${one}`))
}
