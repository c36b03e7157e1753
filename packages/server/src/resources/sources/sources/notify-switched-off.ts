import { encodeId, type OriginError } from '@postroad/contract'
import type { Ctx } from '../../../context.ts'
import { notifyManagers } from '../../people/notices/index.ts'
import { audit } from '../../workspace/audit/index.ts'

const USEFUL_MS = 7 * 86_400_000

/** No member turned the source off, so Postroad emails the owners and admins, in the transaction that turns it off. */
export async function notifySwitchedOff(
  tx: Ctx,
  { id, name, error }: { id: string; name: string; error: OriginError },
): Promise<void> {
  await audit(tx, {
    action: 'disable_source',
    target: encodeId('source', id),
    details: { reason: 'failing', error: error.reason },
  })
  await notifyManagers(tx, {
    kind: 'source_disabled',
    message: {
      subject: `The source ${name} was turned off`,
      lines: [
        `Postroad has turned off the source ${name}, because it could not be read for 24 hours. ${error.error}`,
        'Its position is stored. When the other system works again, turn the source on, and it continues where it stopped.',
      ],
    },
    usefulMs: USEFUL_MS,
  })
}
