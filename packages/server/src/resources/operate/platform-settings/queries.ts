import { sql, type Db, type Sql } from '../../../platform/db.ts'

export type PlatformSettingsRow = {
  readonly support_contact: string | null
  readonly workspace_creation: 'anyone' | 'operators'
  readonly default_plan: string | null
  readonly agent_registration: boolean
  readonly agent_registrations_per_day: number
  readonly terms_version: string
  readonly terms_url: string | null
  readonly updated_at: Date | null
  readonly updated_by: string | null
}

const columns: Sql = sql`
  support_contact, workspace_creation, default_plan, agent_registration, agent_registrations_per_day, terms_version, terms_url, updated_at, updated_by
`

export function findPlatformSettings(db: Db): Promise<PlatformSettingsRow> {
  return db.one<PlatformSettingsRow>(sql`
    select ${columns}
      from platform_settings
  `)
}

/** Locks the settings until the transaction ends, so that concurrent changes do not undo each other. */
export function lockPlatformSettings(db: Db): Promise<PlatformSettingsRow> {
  return db.one<PlatformSettingsRow>(sql`
    select ${columns}
      from platform_settings
       for update
  `)
}

export function putPlatformSettings(db: Db, row: PlatformSettingsRow): Promise<PlatformSettingsRow> {
  return db.one<PlatformSettingsRow>(sql`
    update platform_settings
       set support_contact = ${row.support_contact},
           workspace_creation = ${row.workspace_creation},
           default_plan = ${row.default_plan},
           agent_registration = ${row.agent_registration},
           agent_registrations_per_day = ${row.agent_registrations_per_day},
           terms_version = ${row.terms_version},
           terms_url = ${row.terms_url},
           updated_at = ${row.updated_at},
           updated_by = ${row.updated_by}
    returning ${columns}
  `)
}
