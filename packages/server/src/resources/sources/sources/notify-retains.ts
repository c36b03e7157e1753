import { encodeId } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { notifyManagers } from '../../people/notices/index.ts'
import { audit } from '../../workspace/audit/index.ts'

const USEFUL_MS = 7 * 86_400_000

/** The slot of a source may fill the disk of another database, so Postroad emails the owners and admins. */
export async function notifyRetains(
  tx: Ctx,
  { id, name, warning }: { id: string; name: string; warning: string },
): Promise<void> {
  await audit(tx, { action: 'warn_source_slot', target: encodeId('source', id), details: { warning } })
  await notifyManagers(tx, {
    kind: 'source_slot_retains',
    message: {
      subject: `The source database of ${name} retains WAL`,
      lines: [`Postroad checked the replication slot of the source ${name}. ${warning}`],
    },
    usefulMs: USEFUL_MS,
  })
}
