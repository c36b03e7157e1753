import type { Database } from '../src/platform/db.ts'
import type { Stage } from './stage.ts'

/** Asks the database of the server about its workspace, on a connection for this question. */
export async function asked<T>(
  stage: Stage,
  work: (database: Database, at: { readonly workspaceId: string }) => Promise<T>,
): Promise<T> {
  const database = stage.openDatabase()
  try {
    return await work(database, { workspaceId: stage.workspaceId })
  } finally {
    await database.close()
  }
}
