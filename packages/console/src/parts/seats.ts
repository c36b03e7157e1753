import { routes } from '@postroad/contract'
import { useAsk } from '../data/ask.ts'
import { every, useWorkspace } from '../data/lists.ts'
import { useMay } from '../data/place.ts'
import { seatsText } from './plan-text.ts'

/** The seats of the plan in use: members and pending invites count. Only admins can read the invites. */
export type Seats = { readonly used: number; readonly max: number | null; readonly text: string }

export function useSeats(): Seats | undefined {
  const workspace = useWorkspace().data
  const mayRead = useMay(routes.invites.list)
  const invites = useAsk(
    ['members', 'invites'],
    (client, signal) => every(client.invites.list({ limit: 200 }, { signal })),
    { enabled: mayRead },
  ).data
  if (workspace === undefined || (mayRead && invites === undefined)) return undefined
  const { members, max_members: max } = workspace
  const pending = invites?.filter(({ status }) => status === 'pending').length ?? 0
  return { used: members + pending, max, text: seatsText(members, pending) }
}
