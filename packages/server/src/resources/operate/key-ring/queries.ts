import { named, sql, type Db, type Sql } from '../../../platform/db.ts'
import { SEALED_COLUMNS, type SealedColumn } from '../../secret-place.ts'
import { TABLES } from '../../tables.ts'

/** The statements of this room cover all workspaces, because the key and its rotation belong to the installation. */

/** The place of a sealed value. A row of a workspace has no project; a row of the installation has no workspace, and its name or id is text. */
export type SealedRow = {
  readonly workspace_id: string | null
  readonly project_id: string | null
  readonly id: string
  readonly sealed: Buffer
}

type Place = {
  readonly table: Sql
  readonly value: Sql
  readonly owner: 'project' | 'workspace' | 'installation'
  readonly idColumn: Sql
}

function placeOf(column: SealedColumn): Place {
  const [table = '', value = ''] = column.split('.')
  const { owner = 'project', id = 'id' } = TABLES[table] ?? {}
  const idColumn = owner === 'installation' ? sql`${named(id)}::text` : named(id)
  return { table: named(table), value: named(value), owner, idColumn }
}

/** The id of the key is in the value, after its version. */
const keyIdOf = (value: Sql): Sql => sql`encode(substring(${value} from 2 for 4), 'hex')`

export type KeyCount = { readonly column: SealedColumn; readonly key_id: string; readonly count: number }

/** The number of values of each column that each key has sealed. */
export function countByKey(db: Db): Promise<readonly KeyCount[]> {
  const counts = SEALED_COLUMNS.map((column) => {
    const { table, value } = placeOf(column)
    return sql`
      select ${column} as "column", ${keyIdOf(value)} as key_id, count(*) as count
        from ${table}
       where ${value} is not null
       group by 2`
  })
  return db.many<KeyCount>(counts.reduce((all, one) => sql`${all} union all ${one}`))
}

type Batch = {
  readonly column: SealedColumn
  readonly keyId: string
  readonly after: SealedRow | undefined
  readonly limit: number
}

/** The next values of a column that were sealed by other keys. */
export function listSealedByOthers(db: Db, { column, keyId, after, limit }: Batch): Promise<readonly SealedRow[]> {
  const { table, value, owner, idColumn } = placeOf(column)
  if (owner === 'installation') {
    return db.many<SealedRow>(sql`
      select null as workspace_id, null as project_id, ${idColumn} as id, ${value} as sealed
        from ${table}
       where ${value} is not null
         and ${keyIdOf(value)} <> ${keyId}
         and ${idColumn} > ${after?.id ?? ''}
       order by ${idColumn}
       limit ${limit}
    `)
  }
  const {
    workspace_id: workspaceId,
    project_id: projectId,
    id,
  } = after ?? { workspace_id: NIL, project_id: NIL, id: NIL }
  if (owner === 'workspace') {
    return db.many<SealedRow>(sql`
      select workspace_id, null as project_id, ${idColumn} as id, ${value} as sealed
        from ${table}
       where ${value} is not null
         and ${keyIdOf(value)} <> ${keyId}
         and (workspace_id, ${idColumn}) > (${workspaceId}::uuid, ${id}::uuid)
       order by workspace_id, ${idColumn}
       limit ${limit}
    `)
  }
  return db.many<SealedRow>(sql`
    select workspace_id, project_id, ${idColumn} as id, ${value} as sealed
      from ${table}
     where ${value} is not null
       and ${keyIdOf(value)} <> ${keyId}
       and (workspace_id, project_id, ${idColumn}) > (${workspaceId}::uuid, ${projectId}::uuid, ${id}::uuid)
     order by workspace_id, project_id, ${idColumn}
     limit ${limit}
  `)
}

const NIL = '00000000-0000-0000-0000-000000000000'

/** Replaces a value; 0 when it has changed since it was read. */
export function replaceSealed(
  db: Db,
  of: { readonly column: SealedColumn; readonly row: SealedRow; readonly fresh: Buffer },
): Promise<number> {
  const { table, value, owner, idColumn } = placeOf(of.column)
  const { workspace_id: workspaceId, project_id: projectId, id, sealed } = of.row
  const inProject = owner === 'project' ? sql`and project_id = ${projectId}` : sql``
  const at =
    owner === 'installation'
      ? sql`${idColumn} = ${id}`
      : sql`workspace_id = ${workspaceId} ${inProject} and ${idColumn} = ${id}`
  return db.run(sql`
    update ${table}
       set ${value} = ${of.fresh}
     where ${at}
       and ${value} = ${sealed}
  `)
}

const KEY_FILE_LOCK = 4_680_003

/** Locks the key file for one writer. The lock ends with the transaction. */
export async function lockKeyFile(db: Db): Promise<void> {
  await db.run(sql`select pg_advisory_xact_lock(${KEY_FILE_LOCK})`)
}

/** Transactions of this database that started before this time and have not ended. */
export async function countTransactionsSince(db: Db, before: Date): Promise<number> {
  const { found } = await db.one<{ found: number }>(sql`
    select count(*) as found
      from pg_stat_activity
     where datname = current_database()
       and backend_type = 'client backend'
       and pid <> pg_backend_pid()
       and xact_start <= ${before}
  `)
  return found
}
