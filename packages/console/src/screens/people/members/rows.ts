import type { Client } from '@postroad/sdk'
import type { UseQueryResult } from '@tanstack/react-query'
import { useAsk } from '../../../data/ask.ts'
import { every, type Invite, type Member } from '../../../data/lists.ts'
import { usePlace } from '../../../data/place.ts'

/** A member of the workspace, or an open invite. */
export type Person =
  | ({ readonly kind: 'member'; readonly isYou: boolean } & Member)
  | ({ readonly kind: 'invite'; readonly name: string } & Invite)

/** Members by name, then the open invites. */
async function peopleOf(
  client: Client,
  { you, signal }: { readonly you: string; readonly signal: AbortSignal },
): Promise<readonly Person[]> {
  const [members, invites] = await Promise.all([
    every(client.members.list({ limit: 200 }, { signal })),
    every(client.invites.list({ limit: 200 }, { signal })),
  ])
  return [
    ...members
      .map((member) => ({ ...member, kind: 'member' as const, isYou: member.id === you }))
      .toSorted((a, b) => a.name.localeCompare(b.name)),
    ...invites.map((invite) => ({ ...invite, kind: 'invite' as const, name: invite.email })),
  ]
}

/** The members and the invited people. All parts of the screen share one read. */
export function usePeople(): UseQueryResult<readonly Person[]> {
  const { me } = usePlace()
  return useAsk(['members', 'people'], (client, signal) => peopleOf(client, { you: me.user.id, signal }))
}
