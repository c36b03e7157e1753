import type { Cipher } from '../../../platform/cipher.ts'
import type { Database } from '../../../platform/db.ts'
import { anchorAt, sealAnchor } from './anchor.ts'
import { findEnds, lockAnchor, listChains, putAnchor } from './queries.ts'

/** Runs once, when the database of a release without anchors is upgraded: it anchors each chain at its current end. */
export async function anchorChains(database: Database, cipher: Cipher): Promise<void> {
  for (const workspaceId of await listChains(database)) {
    // oxlint-disable-next-line no-await-in-loop, house/verb-guards -- one at a time; the subject is the log itself
    await database.transaction(async (db) => {
      if ((await lockAnchor(db, workspaceId)) !== null) return
      const ends = await findEnds(db, workspaceId)
      if (ends !== undefined)
        await putAnchor(db, { workspaceId, sealed: sealAnchor(cipher, anchorAt(ends), workspaceId) })
    })
  }
}
