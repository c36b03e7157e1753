import { refuse, type Refusal } from '../../../domain/refusal.ts'
import type { Db } from '../../../platform/db.ts'
import { findPlatformSettings } from '../../operate/platform-settings/index.ts'
import type { WorkspaceRow } from './queries.ts'

/** The part of a suspension that members read: the reason and the contact. Senders of events read neither. */
export async function suspendedRefusal(
  db: Db,
  { suspended_reason: reason }: Pick<WorkspaceRow, 'suspended_reason'>,
): Promise<Refusal> {
  const { support_contact: contact } = await findPlatformSettings(db)
  const sentences = [
    'The operator suspended this workspace, so it refuses changes.',
    ...(reason === null ? [] : [`Reason: ${asSentence(reason)}`]),
    contact === null ? 'Ask the operator to reinstate it.' : `Contact: ${asSentence(contact)}`,
  ]
  return refuse('workspace_suspended', sentences.join(' '))
}

function asSentence(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return /[.!?…]$/.test(line) ? line : `${line}.`
}
