import type { Clock } from './clock.ts'
import { sql, type Db, type Sql } from './db.ts'

/** A `select` that finds a row when a loop may have work at this time. It may find one too often, never too seldom. */
export type Due = (now: Date) => Sql

export type DueBoard = {
  /** Whether the loop of this name may have work. A loop without a condition always may. */
  isDue(name: string): Promise<boolean>
}

/** Loops that ask within this time share an answer. */
const SHARED_MS = 250

/** One statement finds out for all loops which of them have work, because most have none most of the time. */
export function createDueBoard(
  { database, clock }: { readonly database: Db; readonly clock: Clock },
  conditions: ReadonlyMap<string, Due>,
): DueBoard {
  const names = [...conditions.keys()]
  let last: { readonly at: number; readonly due: Promise<ReadonlySet<string>> } | undefined
  const look = async (at: number): Promise<ReadonlySet<string>> => {
    const found = [...conditions.values()].map((due) => sql`exists (${due(new Date(at))})`)
    const { due } = await database.one<{ due: readonly boolean[] }>(
      sql`select json_build_array(${joined(found)}) as due`,
    )
    return new Set(names.filter((_name, index) => due[index] === true))
  }
  return {
    isDue: async (name) => {
      if (!conditions.has(name)) return true
      const now = clock.now()
      if (last === undefined || now - last.at >= SHARED_MS || now < last.at) last = { at: now, due: look(now) }
      return (await last.due).has(name)
    },
  }
}

const joined = (parts: readonly Sql[]): Sql => parts.reduce((all, part) => sql`${all}, ${part}`)
